-- dialect: snowflake
-- kinds: filter_added
-- direction: can_only_drop
-- columns: app_events.event_name
-- before
with web as (
    select event_id, user_id, event_name, occurred_at from raw.web_events
),
app as (
    select event_id, user_id, event_name, occurred_at from raw.app_events
),
unioned as (
    select * from web
    union all
    select * from app
)
select event_id, user_id, event_name, occurred_at from unioned
-- after
with web as (
    select event_id, user_id, event_name, occurred_at from raw.web_events
),
app as (
    select event_id, user_id, event_name, occurred_at from raw.app_events where event_name <> 'view'
),
unioned as (
    select * from web
    union all
    select * from app
)
select event_id, user_id, event_name, occurred_at from unioned
