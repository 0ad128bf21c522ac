-- dialect: snowflake
-- kinds: join_removed
-- direction: can_only_drop
-- columns: p.product_id i.product_id
-- before
select
    i.order_id,
    i.line_no,
    i.quantity * i.price as line_amount
from raw.order_items as i
left join raw.products as p on p.product_id = i.product_id
-- after
select
    i.order_id,
    i.line_no,
    i.quantity * i.price as line_amount
from raw.order_items as i
