-- dialect: postgres
-- kinds: aggregation_changed
-- direction: same_rows
-- columns: orders.ordered_at
-- before
select customer_id, max(ordered_at) as last_order_at from raw.orders group by customer_id
-- after
select customer_id, min(ordered_at) as last_order_at from raw.orders group by customer_id
