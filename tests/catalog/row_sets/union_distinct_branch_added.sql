-- dialect: databricks
-- kinds: union_branch_added
-- direction: can_only_add
-- columns:
-- before
select user_id from raw.web_events union select user_id from raw.app_events
-- after
select user_id from raw.web_events union select user_id from raw.app_events union select user_id from raw.events
