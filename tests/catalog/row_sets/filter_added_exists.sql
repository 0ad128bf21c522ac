-- dialect: bigquery
-- kinds: filter_added
-- direction: can_only_drop
-- columns:
-- before
select c.customer_id, c.email from raw.customers as c
-- after
select c.customer_id, c.email from raw.customers as c
where exists (select 1 from raw.orders as o where o.customer_id = c.customer_id)
