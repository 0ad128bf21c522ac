-- dialect: databricks
-- kinds: join_type_changed
-- direction: can_only_drop
-- columns: p.product_id i.product_id
-- before
select p.category, sum(i.quantity) as quantity from raw.order_items as i left join raw.products as p on p.product_id = i.product_id group by p.category
-- after
select p.category, sum(i.quantity) as quantity from raw.order_items as i join raw.products as p on p.product_id = i.product_id group by p.category
