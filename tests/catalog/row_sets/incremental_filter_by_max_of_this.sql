-- dialect: bigquery
-- kinds: filter_added
-- direction: can_only_drop
-- columns: events.occurred_at
-- before
select event_id, user_id from raw.events
-- after
select event_id, user_id from raw.events
where occurred_at > (select max(occurred_at) from raw.web_events)
