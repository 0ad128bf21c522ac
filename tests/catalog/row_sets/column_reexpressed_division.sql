-- dialect: duckdb
-- kinds: column_reexpressed
-- direction: same_rows
-- columns: orders.amount orders.discount
-- before
select order_id, amount - discount as net from raw.orders
-- after
select order_id, amount - coalesce(discount, 0) as net from raw.orders
