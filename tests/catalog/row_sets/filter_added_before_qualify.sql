-- dialect: snowflake
-- kinds: filter_added
-- direction: can_only_drop
-- columns: orders.status
-- before
select order_id, customer_id, status, amount
from raw.orders
qualify row_number() over (partition by order_id order by updated_at desc) = 1
-- after
select order_id, customer_id, status, amount
from raw.orders
where status <> 'cancelled'
qualify row_number() over (partition by order_id order by updated_at desc) = 1
