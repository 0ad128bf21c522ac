-- dialect: snowflake
-- kinds: column_added
-- direction: can_only_add
-- columns: events.platform
-- before
select distinct user_id from raw.events
-- after
select distinct user_id, platform from raw.events
