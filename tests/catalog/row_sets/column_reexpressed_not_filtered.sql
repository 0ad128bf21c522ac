-- dialect: bigquery
-- kinds: column_reexpressed
-- direction: same_rows
-- columns: orders.amount orders.discount
-- before
with o as (
    select order_id, status, amount from raw.orders
)
select order_id, amount from o where status = 'completed'
-- after
with o as (
    select order_id, status, amount - discount as amount from raw.orders
)
select order_id, amount from o where status = 'completed'
