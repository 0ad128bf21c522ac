-- dialect: duckdb
-- kinds: join_added
-- direction: can_only_drop
-- columns: p.order_id o.order_id
-- before
select o.order_id from raw.orders as o
-- after
select o.order_id from raw.orders as o anti join raw.payments as p on p.order_id = o.order_id
