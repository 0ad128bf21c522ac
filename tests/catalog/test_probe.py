"""The evidence queries, run on a real DuckDB: what a filter removes, and what a join multiplies."""
# ruff: noqa: S608 -- the queries are made of constants of this file

from __future__ import annotations

import duckdb
import pytest

from catalog.diff import probe
from catalog.diff.row_set import RowSetChange, classify

SETUP = """
create schema app;
create table app.accounts as
select i as id, case when i < 30 then null else i % 10 = 0 end as flag from range(100) t(i);
create table app.events as select i as id, i % 100 as account_id from range(1000) t(i);
create table app.contacts as select i % 100 as account_id, i as n from range(200) t(i);
"""
BASE = """with events as (select * from app.events), source as (select * from app.accounts),
renamed as (select id as account_id, flag as is_test, 1 as one from source)
select e.id, r.is_test from events e join renamed r on r.account_id = e.account_id"""


@pytest.fixture(scope="module")
def warehouse() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(SETUP)
    return connection


def run(warehouse: duckdb.DuckDBPyConnection, sql: str | None) -> dict[str, int]:
    assert sql is not None
    cursor = warehouse.execute(sql)
    (row,) = cursor.fetchall()
    return dict(zip([column[0] for column in cursor.description or ()], row, strict=True))


def change_of(before: str, after: str, kind: str) -> RowSetChange:
    return next(change for change in classify(before, after, "duckdb") if change.kind == kind)


def test_the_rows_that_a_negated_nullable_flag_removes_are_counted_apart(warehouse: duckdb.DuckDBPyConnection) -> None:
    head = BASE + " where not r.is_test"
    change = change_of(BASE, head, "filter_added")
    split = run(warehouse, probe.filter_split(head, change, "duckdb"))
    assert split == {"total": 1000, "kept": 630, "removed_false": 70, "removed_null": 300}
    assert split["total"] == len(warehouse.execute(BASE).fetchall())
    assert split["kept"] == len(warehouse.execute(head).fetchall())


def test_other_conditions_stay_and_the_split_is_taken_inside_the_cte_that_changed(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    before = BASE.replace("from source", "from source where id >= 10")
    head = before.replace("id >= 10", "id >= 10 and flag <> true")
    change = change_of(before, head, "filter_added")
    assert change.scope == "renamed"
    split = run(warehouse, probe.filter_split(head, change, "duckdb"))
    assert split == {"total": 90, "kept": 63, "removed_false": 7, "removed_null": 20}


@pytest.mark.parametrize(
    "tail",
    [" group by all", " limit 5", " qualify row_number() over () = 1", " union all select 1, true"],
)
def test_nothing_is_measured_where_rows_are_folded(tail: str) -> None:
    before, head = BASE + tail, BASE + " where not r.is_test" + tail
    assert probe.filter_split(head, change_of(before, head, "filter_added"), "duckdb") is None


def test_nothing_is_measured_for_an_aggregate_or_a_distinct() -> None:
    for listed in ("select count(*)", "select distinct e.id"):
        before = BASE.replace("select e.id, r.is_test", listed)
        head = before + " where not r.is_test"
        assert probe.filter_split(head, change_of(before, head, "filter_added"), "duckdb") is None


def test_the_nulls_of_a_renamed_column_are_counted_in_the_relation_that_holds_it(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    head = BASE + " where not r.is_test"
    (count,) = probe.null_count(head, change_of(BASE, head, "filter_added"), "duckdb")
    assert (count.relation, count.column) == ("app.accounts", "flag")
    assert run(warehouse, count.query) == {"total": 100, "nulls": 30}


def test_the_nulls_of_a_computed_column_are_counted_where_it_is_computed(warehouse: duckdb.DuckDBPyConnection) -> None:
    before = BASE.replace("flag as is_test", "nullif(flag, true) as is_test")
    head = before + " where not r.is_test"
    (count,) = probe.null_count(head, change_of(before, head, "filter_added"), "duckdb")
    assert (count.relation, count.column) == ("renamed", "is_test")
    assert run(warehouse, count.query) == {"total": 100, "nulls": 37}


def test_a_join_that_fans_out_is_measured_with_and_without_it(warehouse: duckdb.DuckDBPyConnection) -> None:
    for kind in ("join", "left join"):
        head = (
            BASE.replace("r.is_test\n", "r.is_test, c.n\n")
            + f" {kind} app.contacts c on c.account_id = e.account_id and c.n >= 0"
        )
        change = change_of(BASE, head, "join_added")
        assert run(warehouse, probe.join_multiplicity(head, change, "duckdb")) == {
            "rows_with": 2000,
            "rows_without": 1000,
        }
        assert run(warehouse, probe.key_multiplicity(head, change, "duckdb")) == {
            "max_rows_per_key": 2, "keys_with_several": 100, "key_count": 100,
        }  # fmt: skip


def test_a_join_that_another_condition_needs_is_not_taken_out() -> None:
    head = BASE + " left join app.contacts c on c.account_id = e.account_id where c.n > 3"
    change = change_of(BASE, head, "join_added")
    assert probe.join_multiplicity(head, change, "duckdb") is None
    assert probe.key_multiplicity(head, change, "duckdb") is not None


def test_using_and_unique_keys_are_understood(warehouse: duckdb.DuckDBPyConnection) -> None:
    base = "select e.id from app.events e"
    head = base + " left join (select account_id, max(n) as n from app.contacts group by 1) c using (account_id)"
    change = change_of(base, head, "join_added")
    assert run(warehouse, probe.join_multiplicity(head, change, "duckdb")) == {"rows_with": 1000, "rows_without": 1000}
    assert run(warehouse, probe.key_multiplicity(head, change, "duckdb"))["max_rows_per_key"] == 1


def test_rows_of_a_relation_are_counted_and_its_name_is_never_pasted(warehouse: duckdb.DuckDBPyConnection) -> None:
    assert run(warehouse, probe.row_count('"app"."events"', "duckdb")) == {"row_count": 1000}
    assert probe.row_count("`p`.`d`.`t`", "bigquery") == "SELECT COUNT(*) AS row_count FROM `p`.`d`.`t`"


def test_sql_that_cannot_be_read_gives_no_query() -> None:
    change = change_of(BASE, BASE + " where not r.is_test", "filter_added")
    assert probe.filter_split("select (", change, "duckdb") is None
    assert probe.null_count("select (", change, "duckdb") == []
    assert probe.filter_split(BASE, change, "duckdb") is None
