-- dialect: duckdb
-- kinds: aggregation_changed
-- direction: unknown
-- columns: orders.amount
-- before
with t as (
    select customer_id, sum(amount) as revenue from raw.orders group by customer_id
)
select customer_id from t where revenue > 20
-- after
with t as (
    select customer_id, avg(amount) as revenue from raw.orders group by customer_id
)
select customer_id from t where revenue > 20
