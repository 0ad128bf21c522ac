"""SQL that cannot be read, is too long or too deep, or reads itself: one unknown with a note, and soon."""

# ruff: noqa: S608 -- nothing runs these queries

from __future__ import annotations

import time

import pytest

from catalog.diff.row_set import classify


@pytest.mark.parametrize(
    "after", ["select (", "select 1; select 2", "update t set x = 1", "", "select 1 " + "-" * 2_000_000]
)
def test_sql_that_cannot_be_read_is_one_unknown_that_says_so(after: str) -> None:
    (change,) = classify("select 3", after, "duckdb")
    assert (change.kind, change.direction, change.note) == (
        "unknown",
        "unknown",
        "the SQL after the change could not be read as one query",
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("select 1", "select " + "(" * 5000 + "1" + ")" * 5000),
        ("select 1", "select " + "+".join(["1"] * 3000)),
        ("select 1", "select * from (" * 300 + "select 1 as a" + ") x" * 300),
        ("select \x00\x01\xfe 1", "select 1"),
        ("select 1" + " x" * 25_000_000, "select 2" + " x" * 25_000_000),
    ],
    ids=["brackets", "long sum", "subqueries", "binary", "50 MB"],
)
def test_sql_that_is_too_deep_too_long_or_binary_is_one_unknown_with_a_note_and_soon(before: str, after: str) -> None:
    started = time.perf_counter()
    (change,) = classify(before, after, "duckdb")
    assert (change.kind, change.direction) == ("unknown", "unknown")
    assert change.note
    assert time.perf_counter() - started < 20


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("with a as (select * from a) select * from a", "with a as (select * from a where v > 1) select * from a"),
        (
            "with recursive a as (select * from a) select * from a",
            "with recursive a as (select * from a where v > 1) select * from a",
        ),
        (
            "with a as (select * from b), b as (select * from a) select * from a",
            "with a as (select * from b where v > 1), b as (select * from a) select * from a",
        ),
    ],
)
def test_queries_that_read_themselves_end(before: str, after: str) -> None:
    assert [change.kind for change in classify(before, after, "duckdb")] == ["filter_added"]


LONG = "1" * 5000


@pytest.mark.parametrize(
    "after",
    [
        f"select id from t group by {LONG}",
        f"select distinct on ({LONG}) id from t",
        f"select id from t qualify row_number() over (partition by a order by b) = {LONG}",
        f"select id from t where a < {LONG}",
    ],
)
def test_a_number_of_thousands_of_digits_is_compared_without_an_error(after: str) -> None:
    assert classify(after.replace(LONG, "1"), after, "duckdb")


def test_a_name_that_may_be_a_column_or_an_item_of_the_list_stands_for_both() -> None:
    before = "select k, sum(v) as v from t group by k having v > 20"
    changes = classify(before, before.replace("sum", "max"), "duckdb")
    assert changes[0].whole == "unknown"
    assert all("," not in change.predicate for change in changes if change.kind.startswith("filter"))
