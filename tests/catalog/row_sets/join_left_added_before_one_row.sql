-- dialect: bigquery
-- kinds: join_added
-- direction: same_rows
-- columns: p.order_id o.order_id
-- before
select count(*) as orders from raw.orders as o
-- after
select count(*) as orders from raw.orders as o left join raw.payments as p on p.order_id = o.order_id
