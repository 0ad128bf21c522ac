-- dialect: snowflake
-- kinds: group_changed column_added
-- direction: can_only_add
-- columns: customers.segment
-- before
select country, count(*) as customers from raw.customers group by all
-- after
select country, segment, count(*) as customers from raw.customers group by all
