-- dialect: postgres
-- kinds: filter_added
-- direction: unknown
-- columns: orders.is_test
-- before
with per_customer as (
    select customer_id, count(*) as orders from raw.orders group by customer_id
)
select * from per_customer where orders < 3
-- after
with per_customer as (
    select customer_id, count(*) as orders from raw.orders where not is_test group by customer_id
)
select * from per_customer where orders < 3
