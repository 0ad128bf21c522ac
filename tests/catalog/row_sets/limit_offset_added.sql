-- dialect: postgres
-- kinds: limit_changed
-- direction: can_only_drop
-- columns: revenue.revenue
-- before
with revenue as (
    select customer_id, sum(amount) as revenue
    from raw.orders
    group by customer_id
)
select customer_id, revenue
from revenue
order by revenue desc
limit 10
-- after
with revenue as (
    select customer_id, sum(amount) as revenue
    from raw.orders
    group by customer_id
)
select customer_id, revenue
from revenue
order by revenue desc
limit 10 offset 2
