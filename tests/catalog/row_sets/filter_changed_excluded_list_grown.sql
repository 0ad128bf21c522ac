-- dialect: databricks
-- kinds: filter_changed
-- direction: can_only_drop
-- columns: orders.status
-- before
select order_id from raw.orders where status not in ('cancelled')
-- after
select order_id from raw.orders where status not in ('cancelled', 'returned')
