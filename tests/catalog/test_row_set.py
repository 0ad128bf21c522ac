"""What a change of SQL does to the rows: the expected kinds and directions, proved by running both queries."""
# ruff: noqa: S608 -- the queries are made of constants of this file

from __future__ import annotations

import duckdb
import pytest

from catalog.diff.jinja import without_jinja
from catalog.diff.row_set import RowSetChange, classify, combined

SETUP = """
create table accounts as
select i as id, case when i % 3 = 0 then null else i % 7 = 0 end as flag, i % 5 as k from range(60) t(i);
create table events as
select i as id, i % 70 as account_id, case when i % 4 = 0 then null else i % 9 end as v from range(400) t(i);
create table contacts as select i % 40 as account_id, i as n from range(80) t(i);
"""
CTES = "with a as (select * from accounts), e as (select * from events) "
JOINED = CTES + "select e.id, a.k from e join a on a.id = e.account_id"
DEDUPLICATED = (
    "with e as (select *, row_number() over (partition by account_id order by id) as n from events{0})"
    " select * from e where n > 2"
)

# (before, after, kinds, direction of the whole; None where several kinds have several directions)
PAIRS = [
    (JOINED, JOINED + " where not a.flag", ["filter_added"], "can_only_drop"),
    (JOINED + " where not a.flag", JOINED, ["filter_removed"], "can_only_add"),
    (JOINED + " where a.flag", JOINED + " where not a.flag", ["filter_changed"], "unknown"),
    (JOINED, JOINED.replace("from accounts", "from accounts where k > 1"), ["filter_added"], "can_only_drop"),
    (JOINED, JOINED.replace("join", "left join"), ["join_type_changed"], "can_only_add"),
    (JOINED.replace("join", "left join"), JOINED, ["join_type_changed"], "can_only_drop"),
    (JOINED, JOINED.replace("a.id =", "a.k ="), ["join_key_changed"], "unknown"),
    (JOINED, JOINED + " left join contacts c on c.account_id = e.account_id", ["join_added"], "can_multiply"),
    (JOINED, JOINED + " join contacts c on c.account_id = e.account_id", ["join_added"], "unknown"),
    (JOINED + " left join contacts c on c.account_id = a.id", JOINED, ["join_removed"], "can_only_drop"),
    (JOINED, JOINED + " semi join contacts c on c.account_id = e.account_id", ["join_added"], "can_only_drop"),
    (JOINED, JOINED.replace("e.id, a.k", "e.id, a.k, e.v"), ["column_added"], "same_rows"),
    (JOINED, JOINED + " group by all", ["group_changed"], "can_only_drop"),
    (JOINED, JOINED + " limit 5", ["limit_added"], "can_only_drop"),
    (JOINED, JOINED.replace("select e.id", "select distinct e.id"), ["distinct_added"], "can_only_drop"),
    (JOINED, JOINED + " union all select 1, 2", ["union_branch_added"], "can_only_add"),
    ("select id from events", "select unnest([1, 2]) from events", None, None),
    ("select count(*) from events", "select count(*) from events where v > 1", ["filter_added"], "same_rows"),
    (
        "select v, count(*) from events group by v",
        "select v, count(*) from events where v > 1 group by v",
        ["filter_added"],
        "can_only_drop",
    ),
    (
        "select v from events group by v having count(*) < 45",
        "select v from events where id > 40 group by v having count(*) < 45",
        ["filter_added"],
        "unknown",
    ),
    (DEDUPLICATED.format(""), DEDUPLICATED.format(" where v > 1"), ["filter_added"], "unknown"),
    (
        "with e as (select * from events where id < 9) select * from accounts where id not in (select id from e)",
        "with e as (select * from events where id < 9 and v > 3)"
        " select * from accounts where id not in (select id from e)",
        ["filter_added"],
        "unknown",
    ),
    (
        "with e as (select * from events order by id limit 9) select * from e where v > 3",
        "with e as (select * from events where v is not null order by id limit 9) select * from e where v > 3",
        ["filter_added"],
        "unknown",
    ),
    (
        "select id from events except select id from accounts",
        "select id from events except select id from accounts where k > 1",
        ["filter_added"],
        "can_only_add",
    ),
    (
        "select id from events union all select id from accounts",
        "select id from events union all select id from accounts where k > 1",
        ["filter_added"],
        "can_only_drop",
    ),
    (
        "select d.id from (select * from events) d",
        "select d.id from (select * from events where v <> 3) d",
        ["filter_added"],
        "can_only_drop",
    ),
    (
        "select e.id from events e full join accounts a on a.id = e.account_id",
        "select e.id from (select * from events where id > 100) e full join accounts a on a.id = e.account_id",
        None,
        None,
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def warehouse() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(SETUP)
    return connection


def rows(warehouse: duckdb.DuckDBPyConnection, sql: str) -> int:
    return len(warehouse.execute(sql).fetchall())


@pytest.mark.parametrize(("before", "after", "kinds", "direction"), PAIRS)
def test_kind_and_direction_are_as_expected_and_hold_when_both_run(
    warehouse: duckdb.DuckDBPyConnection, before: str, after: str, kinds: list[str] | None, direction: str | None
) -> None:
    changes = classify(before, after, "duckdb")
    assert changes
    if kinds is not None:
        assert [change.kind for change in changes] == kinds
        assert {change.direction for change in changes} == {direction}
    counts = rows(warehouse, before), rows(warehouse, after)
    for found in {change.direction for change in changes} if len(changes) == 1 else ():
        assert {
            "can_only_drop": counts[1] <= counts[0],
            "can_only_add": counts[1] >= counts[0],
            "can_multiply": counts[1] >= counts[0],
            "same_rows": counts[1] == counts[0],
            "unknown": True,
        }[found]


def test_an_added_filter_names_its_condition_its_place_and_its_columns() -> None:
    (change,) = classify(JOINED, JOINED + " where not a.flag", "duckdb")
    assert (change.predicate, change.scope, change.columns) == ("NOT a.flag", "", (("a", "flag"),))
    (inner,) = classify(JOINED, JOINED.replace("from accounts", "from accounts where k > 1"), "duckdb")
    assert (inner.predicate, inner.scope, inner.columns) == ("k > 1", "a", (("accounts", "k"),))


def test_an_added_join_names_its_relation_and_keys_and_the_cte_made_for_it_is_no_second_change() -> None:
    after = JOINED.replace("with", "with c as (select * from contacts),").replace("e.id, a.k", "e.id, a.k, c.n")
    joined, listed = classify(JOINED, after + " left join c on c.account_id = e.account_id and c.n > 1", "duckdb")
    assert (joined.kind, joined.relation, joined.alias, joined.keys, joined.join_kind) == (
        "join_added",
        "c",
        "c",
        ("account_id",),
        "left",
    )
    assert joined.columns == (("c", "account_id"), ("e", "account_id"), ("c", "n"))
    assert (listed.kind, listed.direction) == ("column_added", "same_rows")


@pytest.mark.parametrize(
    "after",
    [
        JOINED.upper().replace("WITH", "with /* hint */").replace(" ", "\n"),
        JOINED.replace("select e.id", "-- why\nselect e.id"),
        JOINED.replace("from e join a", "from e inner join a"),
        JOINED.replace("on a.id = e.account_id", "on (a.id = e.account_id)"),
    ],
)
def test_form_alone_is_no_change(after: str) -> None:
    assert classify(JOINED, after, "duckdb") == []


def test_raw_code_is_compared_with_its_jinja_out_of_the_way() -> None:
    before = "{{ config(x=1) }} select e.* from {{ ref('e') }} e join {{ ref('a') }} a on a.id = e.id"
    after = before.replace("x=1", "x=2") + " {# why #} where not a.flag"
    (change,) = classify(without_jinja(before), without_jinja(after), "duckdb", basis="raw")
    assert (change.kind, change.predicate, change.basis) == ("filter_added", "NOT a.flag", "raw")
    assert len(without_jinja(after)) == len(after)
    changed = before.replace("ref('a')", "ref('b')")
    assert [found.kind for found in classify(without_jinja(before), without_jinja(changed), "duckdb")] == [
        "source_changed"
    ]


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "postgres", "databricks", "redshift", ""])
def test_the_same_change_is_seen_in_every_dialect(dialect: str) -> None:
    (change,) = classify(JOINED, JOINED + " where not a.flag", dialect)
    assert isinstance(change, RowSetChange)
    assert (change.kind, change.direction) == ("filter_added", "can_only_drop")


def test_each_of_several_changes_has_its_own_direction_and_all_have_one_together() -> None:
    after = JOINED.replace("from events", "from events where v > 1").replace("join a", "left join a")
    changes = classify(JOINED, after, "duckdb")
    assert [(change.kind, change.direction) for change in changes] == [
        ("filter_added", "can_only_drop"),
        ("join_type_changed", "can_only_add"),
    ]
    assert combined(changes) == "unknown"
    fewer = classify(JOINED, JOINED.replace("from events", "from events where v > 1") + " limit 5", "duckdb")
    assert [change.direction for change in fewer] == ["can_only_drop", "can_only_drop"]
    assert combined(fewer) == "can_only_drop"
    assert combined([]) == "same_rows"
    assert combined([changes[0], fewer[0]]) == "unknown"


def test_a_filter_on_what_an_added_left_join_brings_may_drop_what_the_join_alone_keeps() -> None:
    after = JOINED + " left join contacts c on c.account_id = a.id where c.n > 1"
    changes = classify(JOINED, after, "duckdb")
    assert {change.kind: change.direction for change in changes} == {
        "filter_added": "can_only_drop",
        "join_added": "can_multiply",
    }
    assert combined(changes) == "unknown"
