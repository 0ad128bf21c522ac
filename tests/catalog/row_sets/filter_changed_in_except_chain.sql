-- dialect: duckdb
-- kinds: filter_added
-- direction: can_only_drop
-- columns: orders.amount
-- before
select order_id from raw.orders
union all
select order_id from raw.order_items
except
select order_id from raw.payments
-- after
select order_id from raw.orders where amount > 10
union all
select order_id from raw.order_items
except
select order_id from raw.payments
