-- dialect: snowflake
-- kinds:
-- direction: same_rows
-- columns:
-- before
with o as (
    select * from raw.orders
)
select order_id from o
-- after
with o as (
    select * from raw.orders
),
unused as (
    select * from raw.customers
)
select order_id from o
