-- dialect: duckdb
-- kinds: distinct_removed
-- direction: can_multiply
-- columns: payments.order_id
-- before
with payers as (
    select distinct order_id from raw.payments
)
select o.order_id, o.amount from raw.orders as o join payers as p on p.order_id = o.order_id
-- after
with payers as (
    select order_id from raw.payments
)
select o.order_id, o.amount from raw.orders as o join payers as p on p.order_id = o.order_id
