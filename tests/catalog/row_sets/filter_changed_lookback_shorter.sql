-- dialect: bigquery
-- kinds: filter_changed
-- direction: can_only_drop
-- columns: events.occurred_at
-- before
select event_id, user_id from raw.events where date(occurred_at) >= date_sub(current_date(), interval 30 day)
-- after
select event_id, user_id from raw.events where date(occurred_at) >= date_sub(current_date(), interval 7 day)
