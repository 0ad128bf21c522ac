-- dialect: bigquery
-- kinds: filter_added distinct_added
-- direction: can_only_drop
-- columns: customers.country customers.customer_id
-- before
select customer_id, country from raw.customers
-- after
select distinct customer_id, country from raw.customers where country is not null
