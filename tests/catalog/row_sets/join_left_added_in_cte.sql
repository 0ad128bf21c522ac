-- dialect: databricks
-- kinds: join_added
-- direction: can_multiply
-- columns: o.customer_id c.customer_id
-- before
with base as (
    select c.customer_id, c.country from raw.customers as c
)
select customer_id, country from base where country <> 'fr'
-- after
with base as (
    select c.customer_id, c.country from raw.customers as c left join raw.orders as o on o.customer_id = c.customer_id
)
select customer_id, country from base where country <> 'fr'
