-- dialect: postgres
-- kinds: filter_added
-- direction: can_only_drop
-- columns: orders.customer_id
-- before
select order_id, amount from raw.orders
-- after
select order_id, amount from raw.orders where customer_id in (select customer_id from raw.customers where country = 'de')
