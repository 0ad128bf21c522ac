-- dialect: postgres
-- kinds:
-- direction: same_rows
-- columns:
-- before
select o.order_id, o.amount from raw.orders as o where o.amount > 3
-- after
select ord.order_id, ord.amount from raw.orders as ord where ord.amount > 3
