-- dialect: databricks
-- kinds: window_order_changed
-- direction: same_rows
-- columns: orders.updated_at
-- before
select order_id, customer_id, status, amount
from raw.orders
qualify row_number() over (partition by order_id order by updated_at desc) = 1
-- after
select order_id, customer_id, status, amount
from raw.orders
qualify row_number() over (partition by order_id order by updated_at asc) = 1
