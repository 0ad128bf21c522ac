-- dialect: snowflake
-- kinds: distinct_added
-- direction: can_only_drop
-- columns: customers.customer_id customers.country
-- before
select customer_id, country from raw.customers
-- after
select distinct customer_id, country from raw.customers
