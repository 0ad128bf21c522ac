-- dialect: postgres
-- kinds:
-- direction: same_rows
-- columns:
-- before
select status, count(*) as n from raw.orders group by 1
-- after
select status, count(*) as n from raw.orders group by status
