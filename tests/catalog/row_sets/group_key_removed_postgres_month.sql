-- dialect: postgres
-- kinds: group_changed column_removed
-- direction: can_only_drop
-- columns: orders.status
-- before
select date_trunc('month', ordered_at)::date as month, status, sum(amount) as revenue from raw.orders group by 1, 2
-- after
select date_trunc('month', ordered_at)::date as month, sum(amount) as revenue from raw.orders group by 1
