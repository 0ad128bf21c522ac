select
    account_id,
    company_name,
    plan,
    created_at,
    is_internal
from {{ source('app', 'accounts') }}
