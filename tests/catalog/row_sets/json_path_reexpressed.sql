-- dialect: snowflake
-- kinds: column_reexpressed
-- direction: same_rows
-- columns: e.payload
-- before
select e.event_id, e.payload:campaign::string as campaign from raw.json_events as e
-- after
select e.event_id, e.payload:utm.campaign::string as campaign from raw.json_events as e
