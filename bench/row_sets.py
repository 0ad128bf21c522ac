"""What the changes of 100 models do to their rows: queries of seven CTEs and some 60 lines, each changed in one place.

The peer is `sqlglot.diff` (https://github.com/tobymao/sqlglot/blob/main/posts/sql_diff.md) on the same pairs: it says
which nodes of the trees differ, and nothing of rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlglot

from bench._measure import expect, forget_peak, line, seconds
from catalog.diff.row_set import classify, combined

MODELS = 100
DIALECT = "bigquery"
PEER = "sqlglot.diff"
FLOORS = {f"row sets/{PEER}": 1}

_MODEL = """
with events as (
    select event_id, account_id, event_name, occurred_at, plan, seats, cast(amount as numeric) as amount, source_id
    from `warehouse`.`staging`.`stg_events_{number}`
),
accounts as (
    select account_id, created_at, region, owner_id, is_internal, segment
    from `warehouse`.`staging`.`stg_accounts`
),
owners as (
    select owner_id, owner_name, team from `warehouse`.`staging`.`stg_owners` where active
),
invoices as (
    select
        account_id,
        date_trunc(paid_at, month) as paid_month,
        sum(total) as paid,
        count(*) as invoices,
        max(paid_at) as last_paid_at
    from `warehouse`.`staging`.`stg_invoices`
    where status = 'paid'
    group by 1, 2
),
ranked as (
    select
        e.*,
        row_number() over (partition by e.event_id order by e.occurred_at desc) as place
    from events as e
    where e.event_name in ('trial_started', 'plan_upgraded', 'seat_added', 'invoice_paid'){in_cte}
),
latest as (
    select event_id, account_id, event_name, occurred_at, plan, seats, amount
    from ranked
    where place = 1
),
joined as (
    select
        l.event_id,
        l.account_id,
        l.event_name,
        l.occurred_at,
        l.plan,
        case when l.seats > 100 then 'large' when l.seats > 10 then 'medium' else 'small' end as size,
        l.amount,
        a.region,
        a.segment,
        a.is_internal,
        o.owner_name,
        o.team,
        coalesce(i.paid, 0) as paid_this_month,
        i.last_paid_at
    from latest as l
    {join} join accounts as a on a.account_id = l.account_id
    left join owners as o on o.owner_id = a.owner_id
    left join invoices as i
        on i.account_id = l.account_id and i.paid_month = date_trunc(l.occurred_at, month)
)
select
    event_id,
    account_id,
    event_name,
    occurred_at,
    plan,
    size,
    {amount} as amount,
    region,
    segment,
    owner_name,
    team,
    paid_this_month,
    last_paid_at
from joined
{where}"""

_PLAIN = {"in_cte": "", "join": "inner", "amount": "amount", "where": ""}
_CHANGES: tuple[tuple[str, dict[str, str]], ...] = (
    ("can_only_drop", {"where": "where not is_internal"}),
    ("unknown", {"in_cte": " and e.source_id <> 7"}),
    ("can_only_add", {"join": "left"}),
    ("same_rows", {"amount": "round(amount, 2)"}),
    ("can_only_drop", {"where": "where segment = 'enterprise' and region is not null"}),
)
"""What is changed, and what it does to the rows: an earlier event may take the place of one that the window lost."""


def run() -> Iterable[dict[str, Any]]:
    pairs = [_pair(number) for number in range(MODELS)]
    for before, after, direction in pairs[: len(_CHANGES)]:
        found = combined(classify(before, after, DIALECT))
        expect(found == direction, f"the rows are said to be {found}, not {direction}")
    forget_peak()
    took = seconds(lambda: [classify(before, after, DIALECT) for before, after, _ in pairs], times=3)
    other = seconds(lambda: [_peer(before, after) for before, after, _ in pairs], times=1)
    yield line("row sets", MODELS, took, against=PEER, other=other)


def _pair(number: int) -> tuple[str, str, str]:
    direction, change = _CHANGES[number % len(_CHANGES)]
    before, after = (_MODEL.format(number=number, **_PLAIN | words) for words in ({}, change))
    return before, after, direction


def _peer(before: str, after: str) -> object:
    return sqlglot.diff(sqlglot.parse_one(before, dialect=DIALECT), sqlglot.parse_one(after, dialect=DIALECT))
