-- dialect: duckdb
-- kinds: filter_changed
-- direction: can_only_add
-- columns:
-- before
select customer_id, count(*) as orders from raw.orders group by customer_id having count(*) >= 3
-- after
select customer_id, count(*) as orders from raw.orders group by customer_id having count(*) >= 2
