-- dialect: postgres
-- kinds: order_changed
-- direction: same_rows
-- columns: orders.ordered_at
-- before
select order_id, amount from raw.orders
-- after
select order_id, amount from raw.orders order by ordered_at
