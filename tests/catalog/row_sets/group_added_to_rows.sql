-- dialect: postgres
-- kinds: group_changed column_reexpressed
-- direction: can_only_drop
-- columns: orders.customer_id orders.amount
-- before
select customer_id, amount from raw.orders
-- after
select customer_id, sum(amount) as amount from raw.orders group by customer_id
