-- dialect: bigquery
-- kinds: column_reexpressed column_renamed column_added column_removed
-- direction: same_rows
-- columns: orders.amount orders.discount orders.status orders.customer_id orders.currency
-- before
select order_id, amount, status, currency from raw.orders
-- after
select order_id, amount + discount as amount, status as order_status, customer_id from raw.orders
