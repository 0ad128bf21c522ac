-- dialect: snowflake
-- kinds: column_renamed
-- direction: same_rows
-- columns: orders.order_id
-- before
select order_id as "Id", amount from raw.orders
-- after
select order_id as id, amount from raw.orders
