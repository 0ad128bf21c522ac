-- dialect: duckdb
-- kinds: filter_added
-- direction: can_only_drop
-- columns: ranked.rn
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
-- after
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
from ranked where rn = 1
