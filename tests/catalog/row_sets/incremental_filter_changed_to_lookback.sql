-- dialect: snowflake
-- kinds: filter_changed
-- direction: unknown
-- columns: events.occurred_at
-- before
select event_id, user_id from raw.events
where occurred_at > (select max(occurred_at) from raw.web_events)
-- after
select event_id, user_id from raw.events
where occurred_at > (select dateadd(day, -3, max(occurred_at)) from raw.web_events)
