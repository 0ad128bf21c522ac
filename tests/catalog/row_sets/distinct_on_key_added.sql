-- dialect: postgres
-- kinds: distinct_changed
-- direction: can_only_add
-- columns: orders.status
-- before
select distinct on (order_id) order_id, status from raw.orders order by order_id, updated_at desc
-- after
select distinct on (order_id, status) order_id, status from raw.orders order by order_id, updated_at desc
