select
    merchant_id,
    merchant_country
from {{ source('bank', 'merchants') }}
