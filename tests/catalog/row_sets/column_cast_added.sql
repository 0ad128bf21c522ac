-- dialect: postgres
-- kinds: column_retyped
-- direction: same_rows
-- columns: orders.customer_id
-- before
select order_id, customer_id from raw.orders
-- after
select order_id, customer_id::text as customer_id from raw.orders
