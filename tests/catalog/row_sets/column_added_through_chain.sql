-- dialect: snowflake
-- kinds: column_added
-- direction: same_rows
-- columns: c.segment
-- before
with orders as (
    select * from raw.orders
),
customers as (
    select * from raw.customers
),
joined as (
    select o.order_id, o.customer_id, o.status, o.amount, c.country
    from orders as o
    inner join customers as c on c.customer_id = o.customer_id
)
select * from joined
-- after
with orders as (
    select * from raw.orders
),
customers as (
    select * from raw.customers
),
joined as (
    select o.order_id, o.customer_id, o.status, o.amount, c.country, c.segment
    from orders as o
    inner join customers as c on c.customer_id = o.customer_id
)
select * from joined
