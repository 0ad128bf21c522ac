-- dialect: duckdb
-- kinds: distinct_added
-- direction: can_only_drop
-- columns: customers.customer_id
-- before
select customer_id, email from raw.customers
-- after
select distinct on (customer_id) customer_id, email from raw.customers
