-- dialect: snowflake
-- kinds: filter_added
-- direction: can_only_drop
-- columns: e.event_id
-- before
select e.event_id, f.value as item from raw.json_events as e, lateral flatten(input => e.items) as f
-- after
select e.event_id, f.value as item from raw.json_events as e, lateral flatten(input => e.items) as f where e.event_id > 3
