select
    l.line_id,
    l.depot_code,
    l.quantity,
    l.shipped_on
from {{ ref('stg_oms__order_lines') }} as l
