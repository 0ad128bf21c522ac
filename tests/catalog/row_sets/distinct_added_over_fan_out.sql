-- dialect: bigquery
-- kinds: distinct_added
-- direction: can_only_drop
-- columns: o.order_id o.status
-- before
select o.order_id, o.status from raw.orders as o left join raw.payments as p on p.order_id = o.order_id
-- after
select distinct o.order_id, o.status from raw.orders as o left join raw.payments as p on p.order_id = o.order_id
