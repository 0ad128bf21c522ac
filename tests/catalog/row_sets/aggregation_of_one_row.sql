-- dialect: snowflake
-- kinds: aggregation_changed
-- direction: same_rows
-- columns: orders.amount
-- before
select count(*) as n, sum(amount) as amount from raw.orders
-- after
select count(*) as n, median(amount) as amount from raw.orders
