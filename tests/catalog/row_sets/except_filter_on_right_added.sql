-- dialect: duckdb
-- kinds: filter_added
-- direction: can_only_add
-- columns: orders.status
-- before
select customer_id from raw.customers except select customer_id from raw.orders
-- after
select customer_id from raw.customers except select customer_id from raw.orders where status = 'completed'
