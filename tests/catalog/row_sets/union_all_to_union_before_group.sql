-- dialect: duckdb
-- kinds: union_kind_changed
-- direction: same_rows
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
select user_id, count(*) as events from unioned group by user_id
-- after
with web as (
    select event_id, user_id, event_name, occurred_at from raw.web_events
),
app as (
    select event_id, user_id, event_name, occurred_at from raw.app_events
),
unioned as (
    select * from web
    union
    select * from app
)
select user_id, count(*) as events from unioned group by user_id
