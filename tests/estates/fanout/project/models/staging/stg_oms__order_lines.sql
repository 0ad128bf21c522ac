select
    line_id,
    depot_code,
    quantity,
    shipped_on
from {{ source('oms', 'order_lines') }}
