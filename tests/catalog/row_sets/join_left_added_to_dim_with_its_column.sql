-- dialect: bigquery
-- kinds: join_added column_added
-- direction: can_multiply
-- columns: s.store_id o.store_id s.region
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
    select o.order_id, o.customer_id, o.status, o.amount, c.country, s.region
    from orders as o
    inner join customers as c on c.customer_id = o.customer_id
    left join raw.stores as s on s.store_id = o.store_id
)
select * from joined
