-- dialect: databricks
-- kinds: column_reordered
-- direction: same_rows
-- columns:
-- before
select order_id, amount, status from raw.orders
-- after
select order_id, status, amount from raw.orders
