-- dialect: bigquery
-- kinds: column_retyped
-- direction: same_rows
-- columns: orders.amount
-- before
select order_id, safe_cast(amount as int64) as amount from raw.orders
-- after
select order_id, safe_cast(amount as float64) as amount from raw.orders
