select
    depot_code,
    shipped_on,
    sum(quantity) as units_dispatched
from {{ ref('fct_dispatched_lines') }}
group by 1, 2
