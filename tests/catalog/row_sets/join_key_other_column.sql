-- dialect: databricks
-- kinds: join_key_changed
-- direction: unknown
-- columns: c.account_id o.customer_id
-- before
select o.order_id, c.email from raw.orders as o join raw.customers as c on c.customer_id = o.customer_id
-- after
select o.order_id, c.email from raw.orders as o join raw.customers as c on c.account_id = o.customer_id
