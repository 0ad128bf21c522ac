-- dialect: postgres
-- kinds: filter_changed
-- direction: can_only_drop
-- columns: events.occurred_at
-- before
with new_events as (
    select event_id, user_id, event_name, platform, occurred_at
    from raw.events
    where occurred_at >= '2024-02-01'
      and event_name in ('view', 'click')
)
select e.event_id, e.user_id, e.event_name, e.platform
from new_events as e
-- after
with new_events as (
    select event_id, user_id, event_name, platform, occurred_at
    from raw.events
    where occurred_at > '2024-02-15'
      and event_name in ('view', 'click')
)
select e.event_id, e.user_id, e.event_name, e.platform
from new_events as e
