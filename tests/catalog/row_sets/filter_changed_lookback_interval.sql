-- dialect: postgres
-- kinds: filter_changed
-- direction: can_only_drop
-- columns: events.occurred_at
-- before
select event_id, user_id from raw.events where occurred_at >= current_date - interval '30 days'
-- after
select event_id, user_id from raw.events where occurred_at >= current_date - interval '7 days'
