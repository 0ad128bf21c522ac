-- dialect: duckdb
-- kinds: union_branch_added
-- direction: can_only_add
-- columns:
-- before
select order_id, amount from raw.orders where status = 'completed'
-- after
select order_id, amount from raw.orders where status = 'completed'
union all
select order_id, amount from raw.payments
