-- dialect: snowflake
-- kinds: filter_changed
-- direction: can_only_add
-- columns: events.occurred_at
-- before
select event_id, user_id from raw.events where occurred_at >= dateadd(day, -3, current_date)
-- after
select event_id, user_id from raw.events where occurred_at >= dateadd(day, -30, current_date)
