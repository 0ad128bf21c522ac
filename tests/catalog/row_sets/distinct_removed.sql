-- dialect: postgres
-- kinds: distinct_removed
-- direction: can_multiply
-- columns: payments.order_id
-- before
select distinct order_id from raw.payments where state = 'ok'
-- after
select order_id from raw.payments where state = 'ok'
