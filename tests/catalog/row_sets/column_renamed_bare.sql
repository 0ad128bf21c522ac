-- dialect: duckdb
-- kinds: column_renamed
-- direction: same_rows
-- columns: orders.amount
-- before
select order_id, amount from raw.orders
-- after
select order_id, amount as order_amount from raw.orders
