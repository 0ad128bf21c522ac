-- dialect: duckdb
-- kinds: join_added
-- direction: can_only_add
-- columns: o.customer_id c.customer_id
-- before
select c.customer_id from raw.customers as c order by c.created_at limit 5
-- after
select c.customer_id from raw.customers as c left join raw.orders as o on o.customer_id = c.customer_id order by c.created_at limit 5
