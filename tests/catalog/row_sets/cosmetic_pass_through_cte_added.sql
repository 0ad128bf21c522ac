-- dialect: postgres
-- kinds:
-- direction: same_rows
-- columns:
-- before
with o as (
    select * from raw.orders
)
select order_id, amount from o
-- after
with o as (
    select * from raw.orders
),
final as (
    select order_id, amount from o
)
select * from final
