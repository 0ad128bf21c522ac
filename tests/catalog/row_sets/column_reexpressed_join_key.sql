-- dialect: postgres
-- kinds: column_reexpressed
-- direction: unknown
-- columns: customers.account_id
-- before
with c as (
    select customer_id as id, country from raw.customers
)
select o.order_id, c.country from raw.orders as o join c on c.id = o.customer_id
-- after
with c as (
    select account_id as id, country from raw.customers
)
select o.order_id, c.country from raw.orders as o join c on c.id = o.customer_id
