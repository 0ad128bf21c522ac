-- dialect: duckdb
-- kinds: column_added
-- direction: unknown
-- columns:
-- before
select order_id from raw.orders
-- after
select order_id, unnest([1, 2]) as part from raw.orders
