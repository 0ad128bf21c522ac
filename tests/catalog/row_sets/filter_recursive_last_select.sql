-- dialect: postgres
-- kinds: filter_added
-- direction: can_only_drop
-- columns: o.amount
-- before
with recursive days as (
    select 1 as n
    union all
    select n + 1 from days where n < 9
)
select d.n, o.order_id from days as d join raw.orders as o on o.store_id = d.n
-- after
with recursive days as (
    select 1 as n
    union all
    select n + 1 from days where n < 9
)
select d.n, o.order_id from days as d join raw.orders as o on o.store_id = d.n where o.amount > 10
