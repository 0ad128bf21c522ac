-- dialect: databricks
-- kinds: window_order_changed
-- direction: same_rows
-- columns: events.occurred_at events.event_id
-- before
select event_id, lag(occurred_at) over (partition by user_id order by occurred_at) as previous_at from raw.events
-- after
select event_id, lag(occurred_at) over (partition by user_id order by occurred_at, event_id) as previous_at from raw.events
