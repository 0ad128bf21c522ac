"""Changes that were once called harmless: both queries run in DuckDB, and what is said of the rows must hold."""

# ruff: noqa: S608 - the queries are constants of the test

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

import pytest
import sqlglot
from sqlglot import exp

from catalog.diff.row_set import RowSetChange, classify, combined
from tests.catalog.row_set_data import warehouse
from tests.catalog.test_row_set_suite import PAIRS, holds

WAREHOUSES = [warehouse(seed) for seed in range(1, 6)]
LATERAL = """
select o.order_id, l.email from raw.orders as o
cross join lateral (select c.email from raw.customers as c where c.customer_id = o.customer_id{}) as l
"""
INNER_LATERAL = """
select order_id from (
    select o.order_id from raw.orders as o, lateral (select 1 as one from raw.customers as c{}) as l
) as inside
"""
CHAIN = "select order_id from raw.orders {} select {} from raw.{} {} select {} from raw.{}"
ORDERS, PAYMENTS = "select order_id from raw.orders", "select order_id from raw.payments"
LISTED = "with x({}) as (select order_id, store_id{} from raw.orders) select a from x where b > 3"
CTES = "with a as ({}), last as ({}) select * from last"
DERIVED = (
    "with x as (select order_id, amount from raw.orders) select * from (select order_id from x where amount > {}) x"
)
BEHIND = (
    "with orders as (select order_id from raw.orders{}),"
    " y as (select o.order_id from (select 1 as k) as orders, orders as o) select * from y"
)
TRAPS = {
    "lateral": (LATERAL.format(""), LATERAL.format(" and false")),
    "lateral with a limit": (LATERAL.format(""), LATERAL.format(" limit 1")),
    "lateral after a comma": (INNER_LATERAL.format(""), INNER_LATERAL.format(" limit 1")),
    "lateral that reads a CTE": (
        "with k as (select * from raw.customers) " + LATERAL.replace("raw.customers", "k").format(""),
        "with k as (select * from raw.customers where false) " + LATERAL.replace("raw.customers", "k").format(""),
    ),
    "table function": (
        "select * from range((select count(*) from raw.orders))",
        "select * from range((select count(*) from raw.orders where amount > 10))",
    ),
    "comment": (f"{ORDERS} -- only\nwhere not is_test", f"{ORDERS} -- only where not is_test"),
    "spaces in a text": (
        "select * from (select 'a  b' as t from raw.orders) where t = 'a b'",
        "select * from (select 'a b' as t from raw.orders) where t = 'a b'",
    ),
    "line end in a text": (
        "select * from (select ' ' as t from raw.orders) where t = ' '",
        "select * from (select '\n' as t from raw.orders) where t = ' '",
    ),
    "spaces in a name": (
        'select "a b" from (select order_id as "a b", amount as "a  b" from raw.orders) where "a b" > 3',
        'select "a b" from (select order_id as "a b", amount as "a  b" from raw.orders) where "a  b" > 3',
    ),
    "except": (f"{ORDERS} except {PAYMENTS}", f"{PAYMENTS} except {ORDERS}"),
    "except all": (f"{ORDERS} except all {PAYMENTS}", f"{PAYMENTS} except all {ORDERS}"),
    "except in brackets": (
        f"select store_id from raw.orders union all ({ORDERS} except {PAYMENTS})",
        f"select store_id from raw.orders union all ({PAYMENTS} except {ORDERS})",
    ),
    "except in the last CTE": (
        CTES.format(ORDERS, f"select * from a except {PAYMENTS}"),
        CTES.format(ORDERS, f"{PAYMENTS} except select * from a"),
    ),
    "except where there was none": (PAYMENTS, f"{ORDERS} except {PAYMENTS}"),
    "union all, then except": (
        CHAIN.format("union all", "event_id", "events", "except", "payment_id", "payments"),
        CHAIN.format("union all", "payment_id", "payments", "except", "event_id", "events"),
    ),
    "union, then union all": (
        CHAIN.format("union", "payment_id", "payments", "union all", "event_id", "events"),
        CHAIN.format("union", "event_id", "events", "union all", "payment_id", "payments"),
    ),
    "union of columns in another order": (
        "select * from (select order_id as x, store_id as y from raw.orders union all select 1, 2) where x > 3",
        "select * from (select 1 as y, 2 as x union all select order_id, store_id from raw.orders) where x > 3",
    ),
    "one union by name": (
        "select * from (select order_id as a, store_id as b from raw.orders"
        " union all by name select payment_id as b, order_id as a from raw.payments union all select 1, 2) where a > 3",
        "select * from (select order_id as a, store_id as b from raw.orders"
        " union all select payment_id as b, order_id as a from raw.payments union all select 1, 2) where a > 3",
    ),
    "list behind a CTE": (LISTED.format("a, b", ""), LISTED.format("b, a", "")),
    "list behind a CTE that had none": (
        "with x as (select order_id as a, store_id as b from raw.orders) select a from x where b > 3",
        "with x(b, a) as (select order_id as a, store_id as b from raw.orders) select a from x where b > 3",
    ),
    "list behind a union": (
        LISTED.replace("raw.orders)", "raw.orders union all select 1, 2)").format("a, b", ""),
        LISTED.replace("raw.orders)", "raw.orders union all select 1, 2)").format("b, a", ""),
    ),
    "value under a list": (LISTED.format("a, b", ""), LISTED.format("a, b", " + 2 as store_id")),
    "derived table with the name of a CTE": (DERIVED.format(10), DERIVED.format(20)),
    "CTE behind the name of a derived table": (BEHIND.format(""), BEHIND.format(" where order_id > 2")),
    "CTE and derived table change places": (
        f"with x as ({ORDERS}) select order_id from (select payment_id as order_id from raw.payments) x",
        f"with x as (select payment_id as order_id from raw.payments) select order_id from ({ORDERS}) x",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TRAPS)
def test_a_change_of_rows_is_seen_and_its_direction_holds_both_ways(name: str) -> None:
    sides = TRAPS[name]
    ran = [[Counter(map(repr, one.execute(sql).fetchall())) for one in WAREHOUSES] for sql in sides]
    assert ran[0] != ran[1], "the pair proves nothing"
    changes, back = classify(*sides, "duckdb"), classify(*sides[::-1], "duckdb")
    assert changes
    assert back
    for before, after in zip(*ran, strict=True):
        assert holds(combined(changes), before.total(), after.total())
        assert holds(combined(back), after.total(), before.total())


@pytest.mark.parametrize("name", [name for name in TRAPS if name.startswith("list behind")])
def test_a_list_of_columns_that_cannot_be_followed_is_unknown_for_the_whole(name: str) -> None:
    changes = classify(*TRAPS[name], "duckdb")
    assert {change.direction for change in changes if change.kind == "unknown"} == {"unknown"}
    assert combined(changes) == "unknown"


OTHERS = [
    LATERAL.format(""), INNER_LATERAL.format(""), LISTED.format("a, b", ""), DERIVED.format(10), BEHIND.format(""),
    CHAIN.format("union all", "event_id", "events", "except", "payment_id", "payments"),
    "select * from (raw.orders as o join (select account_id from raw.accounts) as a on a.account_id = o.store_id)",
    "select * from ((select order_id from raw.orders)) as x",
    "select * from (with x as (select order_id from raw.orders) (select * from x)) as y",
    "select order_id from raw.orders limit (select count(*) from raw.payments)",
    "select u from unnest((select list(order_id) from raw.orders)) as t(u)",
    "select * from (pivot (select * from raw.orders) on status using count(*))",
    "select order_id from raw.orders where exists (select 1 from raw.payments union select 2 from raw.events)",
]  # fmt: skip


def parts(sql: str, dialect: str) -> Iterator[tuple[str, str]]:
    """(a SELECT of `sql`, all of `sql` with that SELECT made to give no row) for each SELECT in it."""
    tree = sqlglot.parse_one(sql, dialect=dialect)
    for number in range(len(list(tree.find_all(exp.Select)))):
        other = tree.copy()
        select = list(other.find_all(exp.Select))[number]
        said = select.sql(dialect=dialect)
        select.where("1 = 0", copy=False)
        yield said, other.sql(dialect=dialect)


def test_no_select_of_a_query_can_change_without_being_seen() -> None:
    looked_at = 0
    queries = [(sql, "duckdb") for sql in OTHERS] + [(pair.after, pair.dialect) for pair in PAIRS.values()]
    for sql, dialect in dict.fromkeys(queries):
        written = sqlglot.parse_one(sql, dialect=dialect).sql(dialect=dialect)
        for part, changed in parts(sql, dialect):
            assert classify(written, changed, dialect), (part, sql)
            looked_at += 1
    assert looked_at > 400


@pytest.mark.parametrize("dialect", ["snowflake", "postgres"])
def test_a_name_in_other_case_is_another_column_where_quotes_keep_case(dialect: str) -> None:
    assert kinds('select a as "Id" from t', "select a as id from t", dialect) == ["column_renamed"]
    assert kinds('select "Id" from t', "select id from t", dialect) == ["column_added", "column_removed"]
    assert kinds("select a as Id from t", "select a as id from t", dialect) == []
    using = "select t.v from t join u using ({})"
    assert kinds(using.format('"Id"'), using.format("id"), dialect) == ["join_key_changed"]


def test_a_name_in_other_case_is_the_same_column_where_quotes_do_not_keep_case() -> None:
    assert kinds('select a as "Id" from t', "select a as id from t", "duckdb") == []


def test_branches_of_a_union_may_change_places_where_the_first_ones_name_the_columns_alike() -> None:
    first, second, third = "select a, b from t", "select a, b from u", "select c, d from v"
    for operator in ("union all", "union"):
        for one, other in itertools.pairwise(itertools.permutations([first, second, third])):
            same_names = third not in (one[0], other[0])
            found = kinds(f" {operator} ".join(one), f" {operator} ".join(other), "duckdb")
            assert bool(found) is not (same_names or one[0] == other[0]), (one, other)


def kinds(before: str, after: str, dialect: str) -> list[str]:
    """The kinds of the changes, in order of the alphabet."""
    changes: list[RowSetChange] = classify(before, after, dialect)
    return sorted(change.kind for change in changes)
