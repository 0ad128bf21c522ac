-- dialect: databricks
-- kinds: filter_changed
-- direction: can_only_add
-- columns: orders.amount
-- before
select order_id from raw.orders where amount between 10 and 30
-- after
select order_id from raw.orders where amount between 5 and 50
