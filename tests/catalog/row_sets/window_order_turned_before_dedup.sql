-- dialect: postgres
-- kinds: window_order_changed
-- direction: same_rows
-- columns: source.updated_at
-- before
with source as (
    select * from raw.orders
),
ranked as (
    select
        *,
        row_number() over (partition by order_id order by updated_at desc) as rn
    from source
)
select order_id, customer_id, status, amount
from ranked
where rn = 1
-- after
with source as (
    select * from raw.orders
),
ranked as (
    select
        *,
        row_number() over (partition by order_id order by updated_at) as rn
    from source
)
select order_id, customer_id, status, amount
from ranked
where rn = 1
