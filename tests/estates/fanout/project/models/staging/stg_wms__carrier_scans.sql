select
    scan_id,
    line_id,
    scan_kind,
    scanned_at
from {{ source('wms', 'carrier_scans') }}
