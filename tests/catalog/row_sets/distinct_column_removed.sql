-- dialect: bigquery
-- kinds: column_removed
-- direction: can_only_drop
-- columns: events.platform
-- before
select distinct user_id, platform from raw.events
-- after
select distinct user_id from raw.events
