-- dialect: databricks
-- kinds: column_removed
-- direction: same_rows
-- columns: o.status o.amount
-- before
with orders as (
    select * from raw.orders where not is_test
)
select
    o.customer_id,
    sum(case when o.status = 'completed' then o.amount else 0 end) as completed_amount,
    sum(case when o.status = 'returned' then o.amount else 0 end) as returned_amount
from orders as o
group by o.customer_id
-- after
with orders as (
    select * from raw.orders where not is_test
)
select
    o.customer_id,
    sum(case when o.status = 'completed' then o.amount else 0 end) as completed_amount
from orders as o
group by o.customer_id
