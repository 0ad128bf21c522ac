-- dialect: bigquery
-- kinds: join_added
-- direction: same_rows
-- columns: f.currency o.currency
-- before
select o.order_id, o.amount from raw.orders as o
-- after
select o.order_id, o.amount from raw.orders as o left join (select currency, max(rate) as rate from raw.fx_rates group by currency) as f on f.currency = o.currency
