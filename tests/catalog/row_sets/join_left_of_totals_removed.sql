-- dialect: databricks
-- kinds: join_removed
-- direction: same_rows
-- columns: t.customer_id c.customer_id
-- before
with order_totals as (
    select customer_id, count(*) as orders, sum(amount) as revenue
    from raw.orders
    group by customer_id
)
select c.customer_id, c.country
from raw.customers as c
left join order_totals as t on t.customer_id = c.customer_id
-- after
with order_totals as (
    select customer_id, count(*) as orders, sum(amount) as revenue
    from raw.orders
    group by customer_id
)
select c.customer_id, c.country
from raw.customers as c
