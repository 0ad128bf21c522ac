-- dialect: snowflake
-- kinds: column_reexpressed
-- direction: unknown
-- columns: app_events.event_name
-- before
select user_id, event_name from raw.web_events
union
select user_id, event_name from raw.app_events
-- after
select user_id, event_name from raw.web_events
union
select user_id, lower(event_name) as event_name from raw.app_events
