-- dialect: snowflake
-- kinds: union_branch_removed
-- direction: can_only_drop
-- columns:
-- before
with u as (
    select user_id from raw.web_events
    union all
    select user_id from raw.app_events
)
select distinct user_id from u
-- after
with u as (
    select user_id from raw.web_events
)
select distinct user_id from u
