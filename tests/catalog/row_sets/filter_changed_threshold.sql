-- dialect: duckdb
-- kinds: filter_changed
-- direction: can_only_add
-- columns: orders.amount
-- before
select order_id from raw.orders where amount > 20 and not is_test
-- after
select order_id from raw.orders where amount > 5.5 and not is_test
