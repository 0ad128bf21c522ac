-- dialect: databricks
-- kinds: filter_added
-- direction: can_only_drop
-- columns: e.event_id
-- before
select e.event_id, item from raw.json_events as e lateral view explode(e.items) x as item
-- after
select e.event_id, item from raw.json_events as e lateral view explode(e.items) x as item where e.event_id > 3
