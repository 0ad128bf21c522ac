select
    s.settlement_id,
    s.merchant_id,
    m.merchant_country,
    s.amount_cents,
    s.settled_on
from {{ ref('stg_bank__settlement_lines') }} as s
inner join {{ ref('stg_bank__merchants') }} as m
    on s.merchant_id = m.merchant_id
