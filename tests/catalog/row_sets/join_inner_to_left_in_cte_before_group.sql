-- dialect: databricks
-- kinds: join_type_changed
-- direction: can_only_add
-- columns: p.product_id i.product_id
-- before
with l as (
    select i.order_id, p.category from raw.order_items as i inner join raw.products as p on p.product_id = i.product_id
)
select category, count(*) as lines from l group by category
-- after
with l as (
    select i.order_id, p.category from raw.order_items as i left join raw.products as p on p.product_id = i.product_id
)
select category, count(*) as lines from l group by category
