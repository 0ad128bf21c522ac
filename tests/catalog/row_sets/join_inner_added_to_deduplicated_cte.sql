-- dialect: databricks
-- kinds: join_added
-- direction: can_only_drop
-- columns: s.store_id o.store_id
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
stores as (
    select store_id, region from raw.stores
    qualify row_number() over (partition by store_id order by region) = 1
),
joined as (
    select o.order_id, o.customer_id, o.status, o.amount, c.country
    from orders as o
    inner join customers as c on c.customer_id = o.customer_id
    inner join stores as s on s.store_id = o.store_id
)
select * from joined
