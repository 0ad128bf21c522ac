-- dialect: bigquery
-- kinds: filter_added
-- direction: can_only_drop
-- columns: orders.ordered_at
-- before
select order_id, customer_id, status, amount
from raw.orders
where status = 'completed'
qualify row_number() over (partition by order_id order by updated_at desc) = 1
-- after
select order_id, customer_id, status, amount
from raw.orders
where status = 'completed' and ordered_at >= '2024-02-01'
qualify row_number() over (partition by order_id order by updated_at desc) = 1
