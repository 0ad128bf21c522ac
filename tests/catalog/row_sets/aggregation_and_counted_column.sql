-- dialect: snowflake
-- kinds: aggregation_changed column_reexpressed
-- direction: same_rows
-- columns: orders.status orders.order_id
-- before
select customer_id, min(status) as first_status, count(*) as n from raw.orders group by customer_id
-- after
select customer_id, max(status) as first_status, count(order_id) as n from raw.orders group by customer_id
