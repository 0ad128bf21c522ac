-- dialect: postgres
-- kinds: order_changed
-- direction: same_rows
-- columns: orders.ordered_at orders.order_id
-- before
select distinct on (order_id) order_id, status from raw.orders order by order_id, updated_at desc
-- after
select distinct on (order_id) order_id, status from raw.orders order by order_id, ordered_at
