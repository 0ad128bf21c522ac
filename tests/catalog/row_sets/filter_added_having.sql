-- dialect: snowflake
-- kinds: filter_added
-- direction: can_only_drop
-- columns:
-- before
select customer_id, count(*) as orders from raw.orders group by customer_id
-- after
select customer_id, count(*) as orders from raw.orders group by customer_id having count(*) > 1
