-- dialect: snowflake
-- kinds: filter_added
-- direction: same_rows
-- columns: orders.status
-- before
select count(*) as orders, sum(amount) as revenue from raw.orders
-- after
select count(*) as orders, sum(amount) as revenue from raw.orders where status = 'completed'
