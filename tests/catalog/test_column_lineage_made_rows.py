"""Functions that make rows: their arguments decide which rows there are."""

# ruff: noqa: S608 -- nothing runs these queries

from __future__ import annotations

import pytest

from catalog.column_lineage.tracing import trace


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("duckdb", "select q.id from q, unnest(q.v) as u(x)"),
        ("duckdb", "select id from q cross join unnest(q.v) as u(x)"),
        ("duckdb", "select id from q left join lateral (select unnest(q.v) as x) as u on true"),
        ("duckdb", "select q.id from q, generate_series(1, q.v) as u(x)"),
        ("duckdb", "select q.id from q, range(q.v) as u(x)"),
        ("postgres", "select id, jsonb_array_elements(v) as x from q"),
        ("snowflake", "select q.id from q, lateral flatten(input => q.v) f"),
        ("databricks", "select q.id from q lateral view explode(q.v) t as x"),
        ("bigquery", "select q.id from q, unnest(q.v) as u"),
        ("bigquery", "select q.id from q, q.v"),
    ],
)
def test_the_arguments_of_a_function_that_makes_rows_decide_the_rows(dialect: str, sql: str) -> None:
    assert "v" in {(source.column or "").lower() for source in trace(sql, dialect=dialect, schema={}).rows}


def test_a_group_by_a_number_of_thousands_of_digits_is_no_error() -> None:
    assert trace(f"select id from q group by {'1' * 5000}", dialect="duckdb", schema={}).columns
