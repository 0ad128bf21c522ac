-- dialect: databricks
-- kinds: qualify_changed
-- direction: can_only_add
-- columns: orders.order_id orders.updated_at
-- before
select order_id, customer_id, status, amount
from raw.orders
qualify row_number() over (partition by order_id order by updated_at desc) = 1
-- after
select order_id, customer_id, status, amount
from raw.orders
qualify row_number() over (partition by order_id order by updated_at desc) <= 3
