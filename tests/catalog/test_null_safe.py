"""Conditions that lose rows to NULL, and the forms that do not, proved by running them."""
# ruff: noqa: S608 -- the queries are made of constants of this file

from __future__ import annotations

import duckdb
import pytest

from catalog.diff.null_safe import null_safe_form, why_nulls_vanish

ROWS = "(values (true, 'a', 1), (false, 'b', 2), (null, null, null), (true, null, 3), (null, 'a', null)) t(flag, x, n)"

UNSAFE = [
    "not flag", "flag = false", "x <> 'a'", "x != 'a'", "not (x = 'a')", "x not in ('a', 'c')",
    "n <> 2", "n not in (1, 2)", "lower(x) <> 'a'", "n > 1", "flag", "x like 'a%'", "x not like 'a%'",
    "n between 1 and 2", "n + 1 > 2",
    "x <> 'a' and n > 1", "(not flag)", "cast(n as varchar) <> '1'",
]  # fmt: skip
SAFE = [
    "coalesce(flag, false) = false", "x is distinct from 'a'", "x is not null", "x is null", "x is null or x <> 'a'",
    "x is not null and x <> 'a'", "flag is not true", "true",
]  # fmt: skip


def kept(condition: str, where_null: str) -> int:
    query = f"select count(*) from {ROWS} where ({condition}) and ({where_null})"
    found = duckdb.execute(query).fetchone()
    assert found
    return int(found[0])


@pytest.mark.parametrize("condition", UNSAFE)
def test_what_loses_rows_to_null_is_explained_with_its_columns(condition: str) -> None:
    found = why_nulls_vanish(condition, "duckdb")
    assert found is not None
    for _, column in found.columns:
        assert kept(condition, f"{column} is null") == 0
        assert column in found.sentence


@pytest.mark.parametrize("condition", SAFE)
def test_what_names_or_keeps_null_is_not_accused(condition: str) -> None:
    assert why_nulls_vanish(condition, "duckdb") is None
    assert null_safe_form(condition, "duckdb") is None


def test_what_postgresql_asks_to_be_not_null_is_asked() -> None:
    assert why_nulls_vanish("x is not null and x <> 'a'", "postgres") is None
    assert why_nulls_vanish("x is not null", "postgres") is None


def test_asking_for_not_true_is_not_asking_for_not_null() -> None:
    found = why_nulls_vanish("flag is not true and flag <> true", "duckdb")
    assert found is not None
    assert found.columns == (("", "flag"),)


def test_a_cast_that_may_fail_is_no_value_to_compare_with() -> None:
    assert null_safe_form("n <> try_cast('a' as int)", "duckdb") is None


def test_only_a_condition_that_reads_as_an_exclusion_is_called_silent() -> None:
    silent = {condition: found.silent for condition in UNSAFE if (found := why_nulls_vanish(condition, "duckdb"))}
    assert not any(silent[condition] for condition in ("n > 1", "flag", "x like 'a%'", "n between 1 and 2"))
    assert all(
        silent[condition]
        for condition in ("not flag", "x <> 'a'", "x not in ('a', 'c')", "flag = false", "x not like 'a%'")
    )


@pytest.mark.parametrize(
    ("condition", "form", "redshift"),
    [
        ("not a.flag", "coalesce(a.flag, false) = false", "coalesce(a.flag, false) = false"),
        ('NOT "Flag"', 'coalesce("Flag", false) = false', 'coalesce("Flag", false) = false'),
        ("flag = false", "coalesce(flag, false) = false", "coalesce(flag, false) = false"),
        ("x <> 'A'", "x is distinct from 'A'", "(x is null or x <> 'A')"),
        ("not x = 'a'", "x is distinct from 'a'", "(x is null or x <> 'a')"),
        ("x not in ('a', 'OR')", "(x is null or not x in ('a', 'OR'))", "(x is null or not x in ('a', 'OR'))"),
    ],
)
def test_the_null_safe_form_is_offered_in_the_dialects_words(condition: str, form: str, redshift: str) -> None:
    assert (null_safe_form(condition, "duckdb"), null_safe_form(condition, "redshift")) == (form, redshift)


@pytest.mark.parametrize(
    "condition", ["not flag", "flag = false", "x <> 'a'", "x not in ('a', 'c')", "n not in (1)", "n <> 2"]
)
def test_the_null_safe_form_keeps_what_was_kept_and_the_rows_with_null(condition: str) -> None:
    form = null_safe_form(condition, "duckdb")
    assert form is not None
    column = condition.removeprefix("not ").split()[0]
    assert kept(f"not coalesce({form}, false)", condition) == 0
    assert kept(form, f"{column} is null") == kept("true", f"{column} is null") > 0
    assert why_nulls_vanish(form, "duckdb") is None


@pytest.mark.parametrize(
    "condition",
    ["x <> y", "x not in (select y from t)", "x not in ('a', null)", "lower(x) <> 'a'", "n > 1", "x not like 'a%'",
     "not (a and b)", "x <> 'a' and n > 1", "not sql ("],
)  # fmt: skip
def test_no_form_is_offered_where_the_meaning_is_not_clear(condition: str) -> None:
    assert null_safe_form(condition, "duckdb") is None


def test_no_boolean_form_is_offered_to_an_engine_without_booleans() -> None:
    assert null_safe_form("x = false", "tsql") is None


def test_not_in_a_subquery_is_warned_of_twice() -> None:
    found = why_nulls_vanish("x not in (select y from t)", "duckdb")
    assert found is not None
    assert "as soon as the subquery returns one NULL" in found.sentence
