-- dialect: databricks
-- kinds: column_renamed
-- direction: same_rows
-- columns: i.quantity i.price
-- before
select
    i.order_id,
    i.line_no,
    p.category,
    i.quantity * i.price as line_amount
from raw.order_items as i
left join raw.products as p on p.product_id = i.product_id
-- after
select
    i.order_id,
    i.line_no,
    p.category,
    i.quantity * i.price as amount
from raw.order_items as i
left join raw.products as p on p.product_id = i.product_id
