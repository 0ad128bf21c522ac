-- dialect: duckdb
-- kinds: limit_added
-- direction: can_only_drop
-- columns:
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
    select * from raw.orders limit 7
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
