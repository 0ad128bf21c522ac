-- dialect: postgres
-- kinds: filter_changed
-- direction: can_only_add
-- columns: orders.status
-- before
select order_id, status from raw.orders where status <> 'cancelled'
-- after
select order_id, status from raw.orders where (status <> 'cancelled' or status is null)
