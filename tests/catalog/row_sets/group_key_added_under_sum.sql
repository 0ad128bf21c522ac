-- dialect: duckdb
-- kinds: group_changed column_added
-- direction: same_rows
-- columns: orders.status
-- before
with daily as (
    select store_id, sum(amount) as revenue from raw.orders group by store_id
)
select count(*) as stores from daily
-- after
with daily as (
    select store_id, status, sum(amount) as revenue from raw.orders group by store_id, status
)
select count(*) as stores from daily
