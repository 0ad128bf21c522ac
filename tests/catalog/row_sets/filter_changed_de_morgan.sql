-- dialect: postgres
-- kinds: filter_changed
-- direction: same_rows
-- columns: orders.status orders.is_test
-- before
select order_id from raw.orders where not (status = 'cancelled' or is_test)
-- after
select order_id from raw.orders where status <> 'cancelled' and not is_test
