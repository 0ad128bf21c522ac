-- dialect: snowflake
-- kinds: window_order_changed
-- direction: unknown
-- columns: events.event_id
-- before
with s as (
    select event_id, event_name, lag(event_name) over (partition by user_id order by occurred_at) as previous from raw.events
)
select * from s where event_name = previous
-- after
with s as (
    select event_id, event_name, lag(event_name) over (partition by user_id order by event_id) as previous from raw.events
)
select * from s where event_name = previous
