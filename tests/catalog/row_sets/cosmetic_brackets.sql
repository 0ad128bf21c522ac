-- dialect: databricks
-- kinds:
-- direction: same_rows
-- columns:
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
where (not (is_test))
group by 1, 2
