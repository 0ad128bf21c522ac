-- dialect: duckdb
-- kinds: filter_removed
-- direction: can_only_add
-- columns: orders.amount
-- before
select customer_id, sum(amount) as revenue from raw.orders group by customer_id having sum(amount) > 20
-- after
select customer_id, sum(amount) as revenue from raw.orders group by customer_id
