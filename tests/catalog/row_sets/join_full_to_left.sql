-- dialect: duckdb
-- kinds: join_type_changed
-- direction: can_only_drop
-- columns: p.product_id i.product_id
-- before
select
    i.order_id,
    i.line_no,
    p.category,
    i.quantity * i.price as line_amount
from raw.order_items as i
full outer join raw.products as p on p.product_id = i.product_id
-- after
select
    i.order_id,
    i.line_no,
    p.category,
    i.quantity * i.price as line_amount
from raw.order_items as i
left join raw.products as p on p.product_id = i.product_id
