"""Changes that look as if their direction were plain, and have none."""

from __future__ import annotations

import pytest

from catalog.diff.row_set import classify, combined


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("select id from events where v in ('a')", "select id from events where v in ('a', 'A')"),
        ("select id from events where v = '010'", "select id from events where v <> '10'"),
        ("select id from events where v > '9'", "select id from events where v > '10'"),
        ("select id from events where random() < 0.5", "select id from events where random() < 0.7"),
        ("select id from events where v = 'true'", "select id from events where v <> 't'"),
    ],
)
def test_constants_that_an_engine_may_take_for_one_give_no_direction(before: str, after: str) -> None:
    assert combined(classify(before, after, "duckdb")) == "unknown"


@pytest.mark.parametrize(
    ("before", "after", "dialect"),
    [
        # the place in a finer partition: more partitions, but fewer with a second row
        (
            "with r as (select k, row_number() over (partition by k order by id) as n from t)"
            " select k from r where n = 2",
            "with r as (select k, row_number() over (partition by k, v order by id) as n from t)"
            " select k from r where n = 2",
            "duckdb",
        ),
        # an item that names another one
        (
            "with r as (select lower(k) as g, row_number() over (partition by g order by id) as n, v from t)"
            " select v from r where n = 1",
            "with r as (select trim(k) as g, row_number() over (partition by g order by id) as n, v from t)"
            " select v from r where n = 1",
            "snowflake",
        ),
        # columns that only the join's kind compares
        (
            "with r as (select id, k from t) select * from r natural join u",
            "with r as (select id, k + 1 as k from t) select * from r natural join u",
            "postgres",
        ),
        (
            "with r as (select k, v from t union all by name select v, k from t) select k from r where k > 1",
            "with r as (select k, v from t union all by name select v, k + 1 as k from t) select k from r where k > 1",
            "duckdb",
        ),
        # the old way to write an outer join
        ("select a.id from a, b", "select a.id from a, b where a.id = b.id (+)", "snowflake"),
    ],
)
def test_what_looks_harmless_and_is_not_has_no_direction(before: str, after: str, dialect: str) -> None:
    assert combined(classify(before, after, dialect)) == "unknown"


def test_a_cte_that_takes_the_name_of_a_table_is_seen() -> None:
    before = "with x as (select * from events) select id from accounts"
    after = "with accounts as (select * from events) select id from accounts"
    assert [change.kind for change in classify(before, after, "duckdb")] == ["unknown"]
