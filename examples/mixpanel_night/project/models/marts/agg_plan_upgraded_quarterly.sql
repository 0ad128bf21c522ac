select
    cast(date_trunc('quarter', occurred_at) as date) as quarter,
    count(*) as plan_upgraded
from {{ ref('fct_account_events') }}
where event_name = 'Plan Upgraded'
group by 1
