-- dialect: duckdb
-- kinds: column_removed
-- direction: same_rows
-- columns: orders.customer_id
-- before
with o as (
    select order_id, customer_id, amount from raw.orders
)
select order_id, amount from o
-- after
with o as (
    select order_id, amount from raw.orders
)
select order_id, amount from o
