select
    settled_on,
    merchant_country,
    sum(amount_cents) as cash_cents
from {{ ref('fct_settled_amounts') }}
group by 1, 2
