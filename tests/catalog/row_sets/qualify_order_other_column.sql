-- dialect: snowflake
-- kinds: window_order_changed
-- direction: same_rows
-- columns: orders.ordered_at orders.amount
-- before
select order_id, customer_id, status, amount
from raw.orders
qualify row_number() over (partition by order_id order by updated_at desc) = 1
-- after
select order_id, customer_id, status, amount
from raw.orders
qualify row_number() over (partition by order_id order by ordered_at desc, amount) = 1
