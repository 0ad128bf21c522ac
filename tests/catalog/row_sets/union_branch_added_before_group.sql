-- dialect: snowflake
-- kinds: union_branch_added
-- direction: can_only_add
-- columns:
-- before
with all_events as (
    select user_id, event_name from raw.web_events
)
select user_id, count(*) as events from all_events group by user_id
-- after
with all_events as (
    select user_id, event_name from raw.web_events
    union all
    select user_id, event_name from raw.app_events
)
select user_id, count(*) as events from all_events group by user_id
