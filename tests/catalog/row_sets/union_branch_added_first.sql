-- dialect: bigquery
-- kinds: union_branch_added
-- direction: can_only_add
-- columns:
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
    select event_id, user_id, event_name, occurred_at from raw.app_events
),
unioned as (
    select event_id, user_id, event_name, occurred_at from raw.events
    union all
    select * from web
    union all
    select * from app
)
select event_id, user_id, event_name, occurred_at from unioned
