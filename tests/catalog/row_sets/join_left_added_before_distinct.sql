-- dialect: snowflake
-- kinds: join_added
-- direction: same_rows
-- columns: o.customer_id c.customer_id
-- before
select distinct c.country from raw.customers as c
-- after
select distinct c.country from raw.customers as c left join raw.orders as o on o.customer_id = c.customer_id
