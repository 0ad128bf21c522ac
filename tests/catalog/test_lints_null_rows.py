"""The null lint on labelled predicates of five dialects; labels and offered forms are proved on data in DuckDB."""
# ruff: noqa: S608 -- the queries are made of constants of this file

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import duckdb
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.diff.jinja import without_jinja
from catalog.diff.null_safe import exclusions, null_safe_form
from catalog.diff.row_set_types import RowSetChange
from catalog.lints import null_rows, outer_join
from catalog.lints.types import ColumnFact, Facts, Finding, ModelState

CASES = Path(__file__).parent / "lints" / "null_predicates.tsv"


class Case(NamedTuple):
    """One labelled predicate: `drops` rows silently, is `safe`, or is `plain`: it asks for values, NULL is none."""

    dialect: str
    label: str
    form: str
    predicate: str


def cases() -> list[Case]:
    with CASES.open() as file:
        return [Case(**row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


@pytest.fixture(scope="module")
def data() -> Iterator[duckdb.DuckDBPyConnection]:
    texts, numbers, flags = ("a", "b", None), (1, 2, None), (True, False, None)
    with duckdb.connect() as connection:
        connection.execute("create table t(x varchar, y varchar, n int, flag boolean, g boolean)")
        connection.executemany(
            "insert into t values (?, ?, ?, ?, ?)", list(product(texts, texts, numbers, flags, flags))
        )
        connection.execute("create table u as select * from (values ('b'), (null)) u(v)")
        yield connection


def found(predicate: str, dialect: str, facts: Facts | None = None) -> list[Finding]:
    model = ModelState("m", f"select * from t where {predicate}", dialect)
    return list(null_rows.check(None, model, facts or Facts(), ()))


def count(data: duckdb.DuckDBPyConnection, condition: str, dialect: str = "duckdb") -> int | None:
    """How many rows meet the condition; None where DuckDB cannot run it."""
    query = sqlglot.transpile(f"select count(*) from t where {condition}", read=dialect, write="duckdb")[0]
    try:
        row = data.execute(query).fetchone()
    except duckdb.Error:
        return None
    return int(row[0]) if row else 0


@pytest.mark.parametrize("case", cases(), ids=str)
def test_labelled_predicates(case: Case) -> None:
    findings = found(case.predicate, case.dialect)
    assert bool(findings) == (case.label == "drops")
    assert any(finding.rewrite for finding in findings) == (case.form == "form")
    assert case.label != "safe" or null_safe_form(case.predicate, case.dialect) is None
    assert all("\n" not in finding.sentence and finding.place.line == 1 for finding in findings)


def test_the_labels_are_true_on_data_with_nulls(data: duckdb.DuckDBPyConnection) -> None:
    tally: Counter[str] = Counter()
    for case in cases():
        nulls = count(data, f"({case.predicate}) is null", case.dialect)
        if nulls is None:
            tally["not executed"] += 1
            continue
        tally[case.label] += 1
        if case.label != "safe":
            assert nulls, case
            continue
        parts = sqlglot.condition(case.predicate, dialect=case.dialect).flatten() if " and " in case.predicate else []
        alone = [count(data, part.sql(dialect=case.dialect) + " is null", case.dialect) for part in parts]
        assert not nulls or any(alone), case
    assert tally["drops"] + tally["safe"] >= 60
    assert tally["not executed"] <= 15


def test_the_offered_form_keeps_the_rows_of_the_original_and_those_with_null(data: duckdb.DuckDBPyConnection) -> None:
    proved = 0
    for case in (case for case in cases() if case.form == "form"):
        form = null_safe_form(case.predicate, case.dialect)
        assert form, case
        kept, safe = count(data, case.predicate, case.dialect), count(data, form, case.dialect)
        as_duckdb = sqlglot.transpile(form, read=case.dialect, write="duckdb")[0]
        original = sqlglot.transpile(case.predicate, read=case.dialect, write="duckdb")[0]
        assert kept is not None, case
        assert safe == kept + (count(data, f"({original}) is null") or 0), case
        assert count(data, f"({original}) and not coalesce({as_duckdb}, false)") == 0, case
        assert not found(form, case.dialect), case
        proved += 1
    assert proved >= 30


COLUMNS = {"x": ("'a'", "'b'", "''"), "n": ("1", "2", "-1"), "flag": ("true", "false")}
SHAPES = [
    "{c} <> {v}", "{v} != {c}", "not ({c} = {v})", "{c} not in ({v})", "not {c} in ({v}, {v})", "{c} = {v}",
    "{c} > {v}", "{c} is null", "not {c} is null", "coalesce({c}, {v}) <> {v}", "{c} is distinct from {v}",
    "nullif({c}, {v}) <> {v}", "not flag", "flag = false", "({c} <> {v}) is not false",
]  # fmt: skip
ATOMS = st.sampled_from([
    shape.format(c=column, v=value) for shape in SHAPES for column, values in COLUMNS.items() for value in values
])  # fmt: skip
PREDICATES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
            lambda three: f"({three[0]} {three[1]} {three[2]})"
        ),
        inner.map(lambda one: f"not ({one})"),
    ),
    max_leaves=4,
)


def conditions(whole: sqlglot.exp.Expr) -> list[sqlglot.exp.Expr]:
    """What has to be true, all of it, whatever brackets stand around it."""
    bare = whole.unnest()
    return [*conditions(bare.left), *conditions(bare.right)] if isinstance(bare, sqlglot.exp.And) else [bare]


@settings(max_examples=100, deadline=None)
@given(predicate=PREDICATES, dialect=st.sampled_from(["duckdb", "postgres", "snowflake", "databricks", "redshift"]))
def test_on_generated_predicates_no_loss_is_missed_and_no_row_is_lost_by_the_form(
    data: duckdb.DuckDBPyConnection, predicate: str, dialect: str
) -> None:
    parts = conditions(sqlglot.condition(predicate, dialect="duckdb"))
    lost = 0
    for part in parts:
        others = [f"({one.sql('duckdb')})" for one in parts if one is not part]
        unknown = [f"({one.sql('duckdb')}) is null" for one in exclusions(part)]
        asked = [f"({part.sql('duckdb')}) is null", f"({' or '.join(unknown) or 'false'})", *others]
        lost += count(data, " and ".join(asked)) or 0
    written = sqlglot.transpile(predicate, read="duckdb", write=dialect)[0]
    if lost:
        assert found(written, dialect), written
    form = null_safe_form(written, dialect)
    if form is not None:
        as_duckdb = sqlglot.transpile(form, read=dialect, write="duckdb")[0]
        assert count(data, f"({predicate}) and not coalesce({as_duckdb}, false)") == 0
        assert count(data, as_duckdb) == (count(data, predicate) or 0) + (count(data, f"({predicate}) is null") or 0)


SOURCES = st.sampled_from([
    "db.s.whole", "db.s.part", "db.s.whole left join db.s.part p2 on p2.k = whole.k",
    "db.s.part left join db.s.whole f2 on f2.k = part.k", "db.s.whole join db.s.part p2 using (k)",
    "db.s.part right join db.s.whole f2 on f2.k = part.k", "(select k, v from db.s.part where v is not null) as part",
])  # fmt: skip
ITEMS = st.sampled_from(["k", "v", "coalesce(v, 1)", "nullif(k, 1)", "case when v = 1 then k end", "v + k"])
KEEPS = st.sampled_from(["", "where v is not null", "where k > 0 or v is null", "where v <> 2", "where k is not null"])
LAST = st.sampled_from(["c", "db.s.whole left join c on c.x = whole.k", "c left join db.s.part on part.k = c.x"])
EXCLUDES = st.sampled_from(["not c.x = 1", "c.y <> 1", "c.x not in (select v from db.s.part)", "c.x <> c.y",
                            "c.x not in (select k from db.s.whole)", "not (c.x = 1 and c.y = 2)"])  # fmt: skip


@pytest.fixture(scope="module")
def tables() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("attach ':memory:' as db; create schema db.s")
        connection.execute("create table db.s.whole as select * from (values (1, 1), (2, 2), (3, 1)) f(k, v)")
        rows = "(values (1, 2), (4, 1), (null, 1), (2, null), (null, null)) p(k, v)"
        connection.execute(f"create table db.s.part as select * from {rows}")
        yield connection


@settings(max_examples=150, deadline=None)
@given(source=SOURCES, items=st.tuples(ITEMS, ITEMS), keeps=KEEPS, last=LAST, condition=EXCLUDES)
def test_no_loss_is_missed_behind_ctes_and_joins_when_the_facts_are_true(
    tables: duckdb.DuckDBPyConnection, source: str, items: tuple[str, str], keeps: str, last: str, condition: str
) -> None:
    first = "whole" if source.startswith("db.s.whole") else "part"
    x, y, kept = (re.sub(r"\b([kv])\b", rf"{first}.\1", text) for text in (*items, keeps))
    query = f"with c as (select {x} as x, {y} as y from {source} {kept}) select count(*) from {last} where "
    known = Facts({("db.s.whole", name): ColumnFact(tested=True) for name in "kv"})
    row = tables.execute(query + f"({condition}) is null").fetchone()
    if row and row[0]:
        model = ModelState("m", query + condition, "duckdb")
        findings = [*null_rows.check(None, model, known, ()), *outer_join.check(None, model, known, ())]
        assert any(finding.place.text.lower() == condition or "c." in finding.place.text for finding in findings)


def facts(**known: ColumnFact) -> Facts:
    return Facts({("db.s.t", name): fact for name, fact in known.items()})


def test_measured_nulls_make_it_certain_and_dangerous_with_number_and_time() -> None:
    known = facts(flag=ColumnFact(tested=True, nulls=812_000, rows=4_000_000, measured_at="2026-01-01 01:00"))
    [finding] = found("not flag", "duckdb", known)
    assert (finding.severity, finding.certainty, finding.rewrite) == (
        "dangerous",
        "certain",
        "coalesce(flag, false) = false",
    )
    assert finding.evidence == ("t.flag was NULL in 812,000 of 4,000,000 rows when measured at 2026-01-01 01:00",)


@pytest.mark.parametrize("fact", [ColumnFact(tested=True), ColumnFact(nullable=False)])
def test_a_column_known_not_null_is_not_found(fact: ColumnFact) -> None:
    assert not found("not flag", "duckdb", facts(flag=fact))
    assert not found("x not in (select flag from db.s.t)", "duckdb", facts(flag=fact, x=fact))
    assert found("x not in (select flag from db.s.t)", "duckdb", facts(x=fact))


def test_no_null_measured_is_for_information_and_nothing_known_is_said() -> None:
    [told] = found("not flag", "duckdb", facts(flag=ColumnFact(nulls=0, measured_at="noon")))
    assert (told.severity, told.certainty) == ("info", "possible")
    assert told.evidence == ("t.flag held no NULL when measured at noon; nothing keeps it so",)
    [unknown] = found("not flag", "duckdb", facts(flag=ColumnFact(nullable=True)))
    assert (unknown.severity, unknown.certainty) == ("look", "possible")
    assert unknown.evidence[0].startswith("not known whether t.flag holds NULL")


def test_rows_that_are_not_always_lost_are_not_certain() -> None:
    nulls = ColumnFact(nulls=3)
    [finding] = found("not (flag and g)", "duckdb", facts(flag=nulls, g=nulls))
    assert (finding.severity, finding.certainty) == ("look", "possible")


QUERY = "with a as (select id, {item} as f from db.s.t{more}), b as (select * from a) select * from b where not f"


@pytest.mark.parametrize(
    ("item", "more", "severity"),
    [
        ("flag", "", "dangerous"),
        ("coalesce(flag, false)", "", None),
        ("flag", " where flag is not null", None),
        ("flag", " where g is not null", "dangerous"),
        ("nullif(flag, true)", "", "look"),
        ("g", "", None),
        ("u.flag", " left join db.s.u on u.id = t.id", "look"),
        ("coalesce(u.flag, true)", " left join db.s.u on u.id = t.id", None),
    ],
)
def test_columns_are_followed_through_ctes(item: str, more: str, severity: str | None) -> None:
    known = {("db.s.t", "flag"): ColumnFact(nulls=1), ("db.s.t", "g"): ColumnFact(tested=True)}
    known[("db.s.u", "flag")] = ColumnFact(tested=True)
    model = ModelState("m", QUERY.format(item=item, more=more), "duckdb")
    findings = list(null_rows.check(None, model, Facts(known), ()))
    assert [finding.severity for finding in findings] == ([severity] if severity else [])


def test_two_conditions_that_lose_the_same_rows_do_not_excuse_each_other() -> None:
    assert [finding.rewrite for finding in found("x <> 'a' and x <> 'b'", "duckdb")] == [
        "x is distinct from 'a'",
        "x is distinct from 'b'",
    ]
    assert len(found("x <> 'a' and (flag <> true and (x <> 'a' and not flag))", "duckdb")) == 4
    assert not found("x <> 'a' and x <> 'b' and x is not null", "duckdb")


def test_what_stood_there_before_is_not_found_again_and_a_second_copy_is() -> None:
    one = ModelState("m", "select * from t where not flag", "duckdb")
    again = ModelState("m", "select a, b from t where (not flag)", "duckdb")
    two = ModelState("m", "select * from t where not flag union all select * from t where not flag", "duckdb")
    assert list(null_rows.check(one, again, Facts(), ())) == []
    assert len(list(null_rows.check(one, two, Facts(), ()))) == 1


def test_only_the_changed_predicates_are_looked_at_when_they_are_given() -> None:
    after = "with c as (select * from t where x <> 'a' and not flag) select * from c where n > 1"
    changes = [
        RowSetChange("filter_added", "can_only_drop", scope="c", predicate="NOT flag"),
        RowSetChange("filter_removed", "can_only_add", scope="c", predicate="x <> 'a'"),
        RowSetChange("filter_added", "can_only_drop", scope="gone", predicate="x <> 'a'"),
        RowSetChange("join_added", "unknown", predicate="((("),
    ]
    found_in = list(null_rows.of_changes(ModelState("m", after, "duckdb"), changes, Facts()))
    assert [finding.place.text for finding in found_in] == ["NOT flag"]
    assert not list(null_rows.of_changes(ModelState("m", "not sql (", "duckdb"), changes, Facts()))


def test_the_line_is_that_of_the_models_own_text() -> None:
    raw = (
        "{{ config(materialized='table') }}\n\nselect *\nfrom {{ ref('t') }}\n-- all but\nwhere n > 1\n  and not flag\n"
    )
    compiled = '\n\nselect *\nfrom "db"."s"."t"\n-- all but\nwhere n > 1\n  and not flag\n'
    [finding] = null_rows.check(None, ModelState("m", compiled, "duckdb", raw=raw), Facts(), ())
    assert finding.place.line == 7
    [untold] = null_rows.check(None, ModelState("m", compiled, "duckdb", raw="{{ my_macro() }}"), Facts(), ())
    assert untold.place.line is None


def test_raw_text_is_said_with_its_jinja_and_rewritten_only_where_it_stays_sql() -> None:
    raw = "select * from {{ ref('t') }} where x <> '{{ var(\"a\") }}' and n <> {{ least() }}"
    for model in (ModelState("m", raw, "duckdb"), ModelState("m", without_jinja(raw), "duckdb", raw=raw)):
        text, number = null_rows.check(None, model, Facts(), ())
        assert (text.place.text, text.rewrite) == (
            "x <> '{{ var(\"a\") }}'",
            "x is distinct from '{{ var(\"a\") }}'",
        )
        assert (number.place.text, number.rewrite) == ("n <> {{ least() }}", None)
        assert "{{ ref('t') }}.n" in number.evidence[0]


@pytest.mark.parametrize(
    ("dialect", "condition"),
    [
        ("snowflake", "regexp_substr(x, 'a') <> 'a'"),
        ("bigquery", "s.x.field <> 'a'"),
        ("bigquery", "x not in unnest(list)"),
        ("duckdb", "x not in list"),
        ("postgres", "x <> all(list)"),
        ("databricks", "not my_udf(x)"),
        ("snowflake", "x:field <> 'a'"),
        ("duckdb", "nullif(x, 'b') <> 'a'"),
        ("duckdb", "n <> try_cast(x as int)"),
        ("duckdb", "n % n <> 1"),
    ],
)
def test_what_may_be_null_of_values_that_are_not_is_not_called_safe(dialect: str, condition: str) -> None:
    known = facts(**{name: ColumnFact(tested=True) for name in ("x", "n", "list")})
    [finding] = found(condition, dialect, known)
    assert finding.certainty == "possible"
    assert "not known whether" in finding.evidence[0]


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("duckdb", "with c(f, g) as (select g, flag from db.s.t) select * from c where not g"),
        ("duckdb", "select * from (select g, flag from db.s.t) as c(f, g) where not g"),
        ("postgres", "select * from db.s.t as c(f, g) where not g"),
        ("snowflake", "select g, count(*) from db.s.t where g is not null group by rollup (g) having not g"),
    ],
)
def test_a_column_under_another_name_is_not_taken_for_the_one_that_is_known(dialect: str, sql: str) -> None:
    known = facts(g=ColumnFact(tested=True))
    assert list(null_rows.check(None, ModelState("m", sql, dialect), known, ()))
    plain = "select g, count(*) from db.s.t where g is not null group by g having not g"
    assert not list(null_rows.check(None, ModelState("m", plain, dialect), known, ()))


def test_a_long_condition_is_cut_in_the_sentence() -> None:
    listed = ", ".join(f"'{number}'" for number in range(2000))
    [finding] = found(f"x not in ({listed})", "duckdb")
    assert len(finding.sentence) < 500
    assert finding.rewrite
