-- dialect: bigquery
-- kinds: filter_added
-- direction: can_only_drop
-- columns: device.os
-- before
select e.event_id from raw.json_events as e
-- after
select e.event_id from raw.json_events as e where e.device.os = 'ios'
