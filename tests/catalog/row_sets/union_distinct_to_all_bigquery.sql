-- dialect: bigquery
-- kinds: union_kind_changed
-- direction: can_multiply
-- columns:
-- before
select user_id from raw.web_events union distinct select user_id from raw.app_events
-- after
select user_id from raw.web_events union all select user_id from raw.app_events
