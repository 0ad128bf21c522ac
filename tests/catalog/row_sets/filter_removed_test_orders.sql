-- dialect: databricks
-- kinds: filter_removed
-- direction: can_only_add
-- columns: orders.is_test
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
    status,
    count(*) as orders,
    sum(amount) as revenue
from raw.orders
group by 1, 2
