-- dialect: postgres
-- kinds: column_added
-- direction: same_rows
-- columns: orders.amount orders.ordered_at
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
    sum(amount) as revenue,
    sum(sum(amount)) over (partition by cast(ordered_at as date)) as day_revenue
from raw.orders
where not is_test
group by 1, 2
