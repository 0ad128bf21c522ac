-- dialect: duckdb
-- kinds: group_changed column_added
-- direction: can_only_add
-- columns: orders.status
-- before
select customer_id, sum(amount) as revenue from raw.orders group by all
-- after
select customer_id, status, sum(amount) as revenue from raw.orders group by all
