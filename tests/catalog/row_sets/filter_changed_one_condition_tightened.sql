-- dialect: bigquery
-- kinds: filter_changed
-- direction: can_only_drop
-- columns: customers.country
-- before
select customer_id from raw.customers where country in ('us', 'de') and deleted_at is null
-- after
select customer_id from raw.customers where country = 'us' and deleted_at is null
