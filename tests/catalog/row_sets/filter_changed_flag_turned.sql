-- dialect: bigquery
-- kinds: filter_changed
-- direction: unknown
-- columns: a.is_internal
-- before
with subscriptions as (
    select * from raw.subscriptions
),
accounts as (
    select account_id, plan, region, is_internal from raw.accounts
),
active as (
    select subscription_id, account_id, mrr
    from subscriptions
    where status = 'active'
)
select a.account_id, a.region, s.subscription_id, s.mrr
from accounts as a
left join active as s on s.account_id = a.account_id
where not a.is_internal
-- after
with subscriptions as (
    select * from raw.subscriptions
),
accounts as (
    select account_id, plan, region, is_internal from raw.accounts
),
active as (
    select subscription_id, account_id, mrr
    from subscriptions
    where status = 'active'
)
select a.account_id, a.region, s.subscription_id, s.mrr
from accounts as a
left join active as s on s.account_id = a.account_id
where a.is_internal
