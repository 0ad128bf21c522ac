-- dialect: databricks
-- kinds: group_changed
-- direction: can_only_add
-- columns: orders.customer_id orders.status
-- before
select customer_id, status from raw.orders group by customer_id, status
-- after
select customer_id, status from raw.orders
