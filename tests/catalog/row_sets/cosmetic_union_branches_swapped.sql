-- dialect: duckdb
-- kinds:
-- direction: same_rows
-- columns:
-- before
with web as (
    select event_id, user_id from raw.web_events
),
app as (
    select event_id, user_id from raw.app_events
)
select * from web
union all
select * from app
-- after
with web as (
    select event_id, user_id from raw.web_events
),
app as (
    select event_id, user_id from raw.app_events
)
select * from app
union all
select * from web
