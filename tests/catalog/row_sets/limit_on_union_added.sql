-- dialect: bigquery
-- kinds: limit_added
-- direction: can_only_drop
-- columns:
-- before
select user_id from raw.web_events union all select user_id from raw.app_events
-- after
select user_id from raw.web_events union all select user_id from raw.app_events limit 4
