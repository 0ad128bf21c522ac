-- dialect: databricks
-- kinds: distinct_removed
-- direction: same_rows
-- columns: events.user_id events.platform
-- before
with users as (
    select distinct user_id, platform from raw.events
)
select platform, count(*) as users from users group by platform
-- after
with users as (
    select user_id, platform from raw.events
)
select platform, count(*) as users from users group by platform
