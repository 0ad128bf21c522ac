-- dialect: postgres
-- kinds: union_branch_added
-- direction: can_only_add
-- columns:
-- before
select customer_id, country from raw.customers
-- after
select customer_id, country from raw.customers
union all
select -1, 'unknown'
