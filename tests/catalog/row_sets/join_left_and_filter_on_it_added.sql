-- dialect: postgres
-- kinds: join_added filter_added
-- direction: unknown
-- columns: c.customer_id o.customer_id c.is_internal
-- before
select o.order_id, o.amount from raw.orders as o
-- after
select o.order_id, o.amount from raw.orders as o left join raw.customers as c on c.customer_id = o.customer_id where not c.is_internal
