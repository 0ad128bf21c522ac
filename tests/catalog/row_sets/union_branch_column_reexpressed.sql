-- dialect: postgres
-- kinds: column_reexpressed
-- direction: same_rows
-- columns:
-- before
select event_id, 'web' as source from raw.web_events
union all
select event_id, 'app' as source from raw.app_events
-- after
select event_id, 'web' as source from raw.web_events
union all
select event_id, 'mobile' as source from raw.app_events
