-- dialect: bigquery
-- kinds: group_changed
-- direction: can_only_drop
-- columns: orders.currency
-- before
select customer_id, sum(amount) as revenue from raw.orders group by customer_id, currency
-- after
select customer_id, sum(amount) as revenue from raw.orders group by customer_id
