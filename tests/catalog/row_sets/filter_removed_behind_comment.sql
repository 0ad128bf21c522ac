-- dialect: duckdb
-- kinds: filter_removed
-- direction: can_only_add
-- columns: orders.amount
-- before
select order_id from raw.orders -- paid ones
where amount > 10
-- after
select order_id from raw.orders -- paid ones where amount > 10
