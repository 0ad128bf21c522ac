-- dialect: bigquery
-- kinds: filter_added
-- direction: can_only_drop
-- columns: orders.is_test
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
    where not is_test
    group by customer_id
)
select customer_id, revenue
from revenue
order by revenue desc
limit 10
