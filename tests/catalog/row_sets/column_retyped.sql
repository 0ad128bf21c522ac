-- dialect: snowflake
-- kinds: column_retyped
-- direction: same_rows
-- columns: orders.amount
-- before
select order_id, cast(amount as decimal(10, 2)) as amount from raw.orders
-- after
select order_id, cast(amount as decimal(18, 4)) as amount from raw.orders
