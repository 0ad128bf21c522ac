-- dialect: bigquery
-- kinds: column_added column_added
-- direction: same_rows
-- columns: web_events.event_name app_events.event_name
-- before
select event_id, user_id from raw.web_events
union all
select event_id, user_id from raw.app_events
-- after
select event_id, user_id, event_name from raw.web_events
union all
select event_id, user_id, event_name from raw.app_events
