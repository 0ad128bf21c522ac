-- dialect: bigquery
-- kinds: distinct_added
-- direction: can_only_drop
-- columns: events.user_id events.platform
-- before
with u as (
    select user_id, platform from raw.events
)
select u.user_id, u.platform from u where u.platform = 'web'
-- after
with u as (
    select distinct user_id, platform from raw.events
)
select u.user_id, u.platform from u where u.platform = 'web'
