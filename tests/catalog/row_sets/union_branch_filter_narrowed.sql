-- dialect: databricks
-- kinds: filter_added filter_added
-- direction: can_only_drop
-- columns: web_events.user_id web_events.event_name
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
    select event_id, user_id, event_name, occurred_at from raw.web_events where user_id is not null and event_name = 'click'
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
