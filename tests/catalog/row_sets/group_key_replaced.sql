-- dialect: duckdb
-- kinds: group_changed column_added column_removed
-- direction: unknown
-- columns: orders.status orders.currency
-- before
select status, count(*) as n from raw.orders group by status
-- after
select currency, count(*) as n from raw.orders group by currency
