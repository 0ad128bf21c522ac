-- dialect: databricks
-- kinds: column_reexpressed
-- direction: same_rows
-- columns: orders.amount
-- before
select order_id, case when amount > 50 then 'big' else 'small' end as size from raw.orders
-- after
select order_id, case when amount > 50 then 'big' when amount > 20 then 'medium' else 'small' end as size from raw.orders
