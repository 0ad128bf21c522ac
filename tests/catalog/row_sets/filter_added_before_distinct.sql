-- dialect: duckdb
-- kinds: filter_added
-- direction: can_only_drop
-- columns: customers.email
-- before
select distinct customer_id, country from raw.customers
-- after
select distinct customer_id, country from raw.customers where email is not null
