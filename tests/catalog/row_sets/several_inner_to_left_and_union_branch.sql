-- dialect: postgres
-- kinds: join_type_changed union_branch_added
-- direction: can_only_add
-- columns: p.product_id i.product_id
-- before
select i.order_id, p.category from raw.order_items as i join raw.products as p on p.product_id = i.product_id
-- after
select i.order_id, p.category from raw.order_items as i left join raw.products as p on p.product_id = i.product_id
union all
select order_id, 'none' from raw.orders
