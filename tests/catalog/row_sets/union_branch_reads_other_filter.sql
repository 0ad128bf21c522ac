-- dialect: bigquery
-- kinds: filter_changed
-- direction: can_only_add
-- columns: web_events.event_name
-- before
select event_id, 'web' as source from raw.web_events where event_name = 'view'
union all
select event_id, 'app' as source from raw.app_events
-- after
select event_id, 'web' as source from raw.web_events where event_name in ('view', 'click')
union all
select event_id, 'app' as source from raw.app_events
