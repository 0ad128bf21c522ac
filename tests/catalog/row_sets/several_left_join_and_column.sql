-- dialect: databricks
-- kinds: join_added column_added
-- direction: can_multiply
-- columns: p.order_id o.order_id p.method
-- before
select o.order_id, o.amount from raw.orders as o
-- after
select o.order_id, o.amount, p.method from raw.orders as o left join raw.payments as p on p.order_id = o.order_id
