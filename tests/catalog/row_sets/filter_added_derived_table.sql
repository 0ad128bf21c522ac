-- dialect: postgres
-- kinds: filter_added
-- direction: can_only_drop
-- columns: orders.status
-- before
select d.order_id, d.amount from (select order_id, amount, status from raw.orders) as d
-- after
select d.order_id, d.amount from (select order_id, amount, status from raw.orders where status = 'shipped') as d
