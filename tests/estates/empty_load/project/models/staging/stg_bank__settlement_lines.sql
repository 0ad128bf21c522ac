select
    settlement_id,
    merchant_id,
    amount_cents,
    settled_on
from {{ source('bank', 'settlement_lines') }}
