-- dialect: snowflake
-- kinds: column_reexpressed
-- direction: unknown
-- columns: orders.status
-- before
with o as (
    select order_id, lower(status) as status from raw.orders
)
select order_id from o where status = 'completed'
-- after
with o as (
    select order_id, trim(status) as status from raw.orders
)
select order_id from o where status = 'completed'
