-- dialect: bigquery
-- kinds: join_removed
-- direction: unknown
-- columns: s.store_id o.store_id
-- before
select o.order_id, o.amount from raw.orders as o join raw.stores as s on s.store_id = o.store_id
-- after
select o.order_id, o.amount from raw.orders as o
