select
    e.event_id,
    e.account_id,
    a.plan,
    e.event_name,
    e.occurred_at
from {{ ref('stg_app__events') }} as e
inner join {{ ref('stg_app__accounts') }} as a
    on e.account_id = a.account_id
