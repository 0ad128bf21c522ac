-- dialect: postgres
-- kinds: join_added
-- direction: can_multiply
-- columns: p.order_id
-- before
select o.order_id, o.amount from raw.orders as o
-- after
select o.order_id, o.amount from raw.orders as o left join raw.payments as p using (order_id)
