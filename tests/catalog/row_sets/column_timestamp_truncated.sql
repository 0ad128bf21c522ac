-- dialect: snowflake
-- kinds: column_reexpressed
-- direction: same_rows
-- columns: events.occurred_at
-- before
select event_id, occurred_at as occurred_at from raw.events
-- after
select event_id, date_trunc('day', occurred_at) as occurred_at from raw.events
