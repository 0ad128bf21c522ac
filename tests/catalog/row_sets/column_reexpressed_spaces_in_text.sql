-- dialect: postgres
-- kinds: column_reexpressed
-- direction: same_rows
-- columns: customers.email customers.country
-- before
select customer_id, email || ' ' || country as label from raw.customers
-- after
select customer_id, email || '  ' || country as label from raw.customers
