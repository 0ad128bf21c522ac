-- dialect: postgres
-- kinds: filter_added
-- direction: can_only_drop
-- columns: customers.deleted_at
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
    select * from raw.customers where deleted_at is null
),
joined as (
    select o.order_id, o.customer_id, o.status, o.amount, c.country
    from orders as o
    inner join customers as c on c.customer_id = o.customer_id
)
select * from joined
