-- dialect: snowflake
-- kinds: qualify_added
-- direction: can_only_drop
-- columns: orders.order_id orders.updated_at
-- before
select order_id, status from raw.orders
-- after
select order_id, status from raw.orders
qualify row_number() over (partition by order_id order by updated_at desc) = 1
