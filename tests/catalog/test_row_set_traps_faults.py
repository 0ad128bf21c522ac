"""SQL on which the parser or the comparison fails is one unknown; and when two texts are the same text."""

# ruff: noqa: S608 - the queries are constants of the test

from __future__ import annotations

import logging

import pytest

from catalog.diff.code_pair import Classifier, CodePair
from catalog.diff.row_set import classify, combined, same_query
from catalog.diff.same import same_tokens
from catalog.sources.manifest_types import Node

DIGITS = "9" * 5000


def node(sql: str, name: str = "m", relation: str = "db.s.m", reads: tuple[str, ...] = ()) -> Node:
    """A model that was compiled to `sql`."""
    raw = {"compiled_code": sql, "relation_name": relation, "name": name, "language": "sql"}
    return Node(f"model.shop.{name}", "model", raw, reads)


FAULTS = {
    "digits in GROUP BY": ("duckdb", "select a from t group by 1", f"select a from t group by {DIGITS}"),
    "digits of a rank": (
        "duckdb",
        "select a from t qualify row_number() over (order by a) = 1",
        f"select a from t qualify row_number() over (order by a) = {DIGITS}",
    ),
    "an arrow for an interval": (
        "bigquery",
        "select 1 as a from t where d > date_sub(current_date(), interval 30 day)",
        "select 1 as a from t where d > date_sub(current_date(), ->> interval 30 day)",
    ),
    "points without names": (
        "snowflake",
        "select 1 as a from raw.customers left join x on true",
        "select 1 as a from raw.customers . . left join x on true",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_sql_on_which_the_comparison_may_fail_is_unknown_and_raises_nothing(name: str) -> None:
    dialect, before, after = FAULTS[name]
    for sides in ((before, after), (after, before)):
        changes = classify(*sides, dialect)
        assert combined(changes) == "unknown"
        assert all(change.note for change in changes)
        assert not same_query(*sides, dialect)


@pytest.mark.parametrize("name", ["an arrow for an interval", "points without names"])
def test_a_fault_of_the_parser_or_the_comparison_goes_to_the_log(name: str, caplog: pytest.LogCaptureFixture) -> None:
    dialect, before, after = FAULTS[name]
    with caplog.at_level(logging.WARNING, logger="catalog.diff"):
        (change,) = classify(before, after, dialect)
    assert change.kind == "unknown"
    assert "could not be compared" in caplog.text or "made the SQL parser fail" in caplog.text


def test_texts_are_the_same_by_the_words_of_the_dialect() -> None:
    sql = "select a from t -- only\nwhere s = 'a b'"
    assert same_tokens(sql, "select a\n  from t where s='a b' /* as before */", "duckdb")
    assert not same_tokens(sql, "select a from t -- only where s = 'a b'", "duckdb")
    assert not same_tokens(sql, sql.replace("a b", "a  b"), "duckdb")
    assert not same_tokens('select "a b" from t', 'select "a  b" from t', "duckdb")
    assert not same_tokens("select a from t", "select 'a' from t", "duckdb")
    assert not same_tokens("select 'a", "select  'a", "duckdb")
    assert not same_tokens("select a", "select  a", "no such dialect")


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("select a from t\nwhere a > 1", "select a  from t where a > 1", True),
        ("select a from t -- x\nwhere a > 1", "select a from t -- x where a > 1", False),
        ("select a from t where s = 'x  y'", "select a from t where s = 'x y'", False),
        # what sqlglot cannot read has words all the same
        ("select from where (", "select  from where (", True),
    ],
)
def test_equal_code_that_compiled_to_other_sql_is_a_change_unless_only_white_space_differs(
    before: str, after: str, *, same: bool
) -> None:
    sides = [{"model.shop.m": node(sql)} for sql in (before, after)]
    pair = CodePair(sides[0]["model.shop.m"], sides[1]["model.shop.m"], *sides)
    assert Classifier("duckdb").compiled_differently(pair) is not same


def test_names_of_tables_that_move_up_by_one_are_not_taken_for_each_other() -> None:
    before = {"one": "db.s.one", "two": "db.s.two", "three": "db.s.three"}
    after = {"one": "db.s.two", "two": "db.s.three", "three": "db.s.four"}
    sides = [
        {f"model.shop.{name}": node("select 1", name, relation) for name, relation in names.items()}
        for names in (before, after)
    ]
    reads = [
        node("select * from db.s.one", "m", "db.s.m", reads=tuple(sides[0])),
        node("select * from db.s.three", "m", "db.s.m", reads=tuple(sides[1])),
    ]
    assert Classifier("duckdb").compiled_differently(CodePair(reads[0], reads[1], *sides))
    moved = node("select * from db.s.two", "m", "db.s.m", reads=tuple(sides[1]))
    assert not Classifier("duckdb").compiled_differently(CodePair(reads[0], moved, *sides))
