-- dialect: databricks
-- kinds: join_added
-- direction: can_only_drop
-- columns: c.customer_id o.customer_id
-- before
select o.order_id from raw.orders as o
-- after
select o.order_id from raw.orders as o left semi join raw.customers as c on c.customer_id = o.customer_id
