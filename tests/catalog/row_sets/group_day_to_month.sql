-- dialect: postgres
-- kinds: group_changed column_reexpressed
-- direction: unknown
-- columns: orders.ordered_at
-- before
select date_trunc('day', ordered_at) as period, count(*) as n from raw.orders group by 1
-- after
select date_trunc('month', ordered_at) as period, count(*) as n from raw.orders group by 1
