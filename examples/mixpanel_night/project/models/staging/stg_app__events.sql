select
    event_id,
    account_id,
    event_name,
    occurred_at
from {{ source('app', 'events') }}
