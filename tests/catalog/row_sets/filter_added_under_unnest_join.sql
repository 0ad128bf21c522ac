-- dialect: bigquery
-- kinds: filter_added
-- direction: can_only_drop
-- columns: o.amount
-- before
select o.order_id, s as step from raw.orders as o cross join unnest([1, 2, 3]) as s
-- after
select o.order_id, s as step from raw.orders as o cross join unnest([1, 2, 3]) as s where o.amount > 10
