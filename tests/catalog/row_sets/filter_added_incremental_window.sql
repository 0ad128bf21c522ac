-- dialect: databricks
-- kinds: filter_added
-- direction: can_only_drop
-- columns: e.occurred_at
-- before
select e.event_id, e.user_id, a.plan from raw.events as e left join raw.accounts as a on a.account_id = e.account_id
-- after
select e.event_id, e.user_id, a.plan from raw.events as e left join raw.accounts as a on a.account_id = e.account_id
where e.occurred_at >= date_sub(current_date(), 30)
