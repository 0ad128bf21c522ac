-- dialect: bigquery
-- kinds: join_added
-- direction: same_rows
-- columns: p.order_id o.order_id
-- before
select o.customer_id, count(*) as orders from raw.orders as o group by o.customer_id
-- after
select o.customer_id, count(*) as orders from raw.orders as o left join raw.payments as p on p.order_id = o.order_id group by o.customer_id
