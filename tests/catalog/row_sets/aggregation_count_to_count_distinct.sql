-- dialect: bigquery
-- kinds: aggregation_changed
-- direction: same_rows
-- columns: events.user_id
-- before
select platform, count(user_id) as users from raw.events group by platform
-- after
select platform, count(distinct user_id) as users from raw.events group by platform
