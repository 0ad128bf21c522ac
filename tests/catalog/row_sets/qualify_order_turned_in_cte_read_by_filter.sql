-- dialect: duckdb
-- kinds: window_order_changed
-- direction: unknown
-- columns: orders.updated_at
-- before
with latest as (
    select order_id, status from raw.orders
    qualify row_number() over (partition by order_id order by updated_at) = 1
)
select * from latest where status = 'completed'
-- after
with latest as (
    select order_id, status from raw.orders
    qualify row_number() over (partition by order_id order by updated_at desc) = 1
)
select * from latest where status = 'completed'
