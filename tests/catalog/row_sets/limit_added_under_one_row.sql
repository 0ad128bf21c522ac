-- dialect: snowflake
-- kinds: limit_added
-- direction: same_rows
-- columns:
-- before
with o as (
    select * from raw.orders
)
select sum(amount) as revenue from o
-- after
with o as (
    select * from raw.orders limit 1000
)
select sum(amount) as revenue from o
