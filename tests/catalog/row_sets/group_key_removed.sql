-- dialect: bigquery
-- kinds: group_changed column_removed
-- direction: can_only_drop
-- columns: orders.status
-- before
select
    cast(ordered_at as date) as order_day,
    status,
    count(*) as orders,
    sum(amount) as revenue
from raw.orders
where not is_test
group by 1, 2
-- after
select
    cast(ordered_at as date) as order_day,
    count(*) as orders,
    sum(amount) as revenue
from raw.orders
where not is_test
group by 1
