-- dialect: postgres
-- kinds: filter_changed
-- direction: same_rows
-- columns: orders.amount
-- before
select order_id from raw.orders where amount between 10 and 30
-- after
select order_id from raw.orders where amount >= 10 and amount <= 30
