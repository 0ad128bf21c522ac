-- dialect: snowflake
-- kinds: join_added filter_added
-- direction: can_only_drop
-- columns: c.customer_id o.customer_id c.country
-- before
select o.order_id, o.amount from raw.orders as o
-- after
with c as (select customer_id, max(country) as country from raw.customers group by customer_id)
select o.order_id, o.amount from raw.orders as o left join c on c.customer_id = o.customer_id where c.country = 'us'
