-- dialect: duckdb
-- kinds: filter_added
-- direction: unknown
-- columns: orders.amount
-- before
select customer_id, count(*) as orders from raw.orders group by customer_id having count(*) < 3
-- after
select customer_id, count(*) as orders from raw.orders where amount > 10 group by customer_id having count(*) < 3
