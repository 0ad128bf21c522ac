-- dialect: duckdb
-- kinds: distinct_removed group_changed
-- direction: unknown
-- columns: customers.country customers.segment
-- before
select distinct country, segment from raw.customers
-- after
select country, segment from raw.customers group by country, segment
