-- dialect: bigquery
-- kinds: window_order_changed
-- direction: same_rows
-- columns: orders.updated_at
-- before
select order_id, sum(amount) over (partition by customer_id order by ordered_at) as running from raw.orders
-- after
select order_id, sum(amount) over (partition by customer_id order by updated_at) as running from raw.orders
