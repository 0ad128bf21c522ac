-- dialect: snowflake
-- kinds: group_changed column_added
-- direction: can_only_add
-- columns: orders.currency
-- before
with order_totals as (
    select customer_id, count(*) as orders, sum(amount) as revenue
    from raw.orders
    group by customer_id
)
select c.customer_id, c.country, t.orders, coalesce(t.revenue, 0) as revenue
from raw.customers as c
left join order_totals as t on t.customer_id = c.customer_id
-- after
with order_totals as (
    select customer_id, currency, count(*) as orders, sum(amount) as revenue
    from raw.orders
    group by customer_id, currency
)
select c.customer_id, c.country, t.orders, coalesce(t.revenue, 0) as revenue
from raw.customers as c
left join order_totals as t on t.customer_id = c.customer_id
