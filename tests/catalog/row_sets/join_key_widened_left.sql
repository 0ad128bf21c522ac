-- dialect: snowflake
-- kinds: join_key_changed
-- direction: can_only_add
-- columns: p.order_id o.order_id
-- before
select o.order_id, p.payment_id from raw.orders as o left join raw.payments as p on p.order_id = o.order_id and p.state = 'ok'
-- after
select o.order_id, p.payment_id from raw.orders as o left join raw.payments as p on p.order_id = o.order_id
