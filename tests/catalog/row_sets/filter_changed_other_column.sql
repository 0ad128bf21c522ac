-- dialect: snowflake
-- kinds: filter_changed
-- direction: unknown
-- columns: orders.updated_at
-- before
select order_id from raw.orders where ordered_at >= '2024-02-01'
-- after
select order_id from raw.orders where updated_at >= '2024-02-01'
