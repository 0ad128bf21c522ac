-- dialect: snowflake
-- kinds: filter_added
-- direction: can_only_drop
-- columns: customers.email
-- before
select customer_id from raw.customers
-- after
select customer_id from raw.customers where email ilike '%@example.com'
