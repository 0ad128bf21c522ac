"""Every lint but that of NULLs: changes it must find, and near ones that it must not."""
# ruff: noqa: S608 -- the queries are made of constants of this file

from __future__ import annotations

import time
from dataclasses import replace

import duckdb
import pytest

from catalog.lints.registry import LINTS, UNREAD, findings
from catalog.lints.types import ColumnFact, ColumnState, Facts, Finding, KeyFact, ModelState, Reader
from tests.catalog.lints.queries import CASES

FACTS = Facts(
    columns={
        ("one", "n"): ColumnFact(type="INTEGER"),
        ("one", "d"): ColumnFact(type="numeric(10,2)"),
        ("one", "at"): ColumnFact(type="timestamp with time zone"),
        ("one", "local"): ColumnFact(type="timestamp without time zone"),
    },
    keys={
        "db.s.many": (KeyFact(("id",), tested=True, duplicates=12, measured_at="noon"),),
        "db.s.one": (KeyFact(("id",), tested=True),),
        "db.s.calm": (KeyFact(("id",), duplicates=0, measured_at="noon"),),
        "db.s.m": (),
    },
)
SYNC = Reader("events", "sync", "mirror", frozenset({"id", "plan"}))


def rules(found: list[Finding]) -> set[str]:
    return {finding.rule for finding in found}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[1]}: {case[0]} ({case[2]})")
def test_labelled_queries(case: tuple[str, str, str, str | None, str, tuple[str, str] | None]) -> None:
    _, rule, dialect, before, after, expected = case
    old = ModelState("m", before, dialect) if before else None
    found = [finding for finding in findings(old, ModelState("m", after, dialect), FACTS) if finding.rule == rule]
    assert [(finding.severity, finding.certainty) for finding in found] == ([expected] if expected else [])
    assert all(finding.place.line in (1, None) for finding in found)
    told = [finding.evidence[0] for finding in found if finding.certainty == "possible"]
    assert all("not known" in sentence or "nothing keeps it so" in sentence for sentence in told)


def test_each_query_lint_has_cases_that_hit_and_cases_that_do_not() -> None:
    hits = {case[1] for case in CASES if case[5]}
    assert hits == {case[1] for case in CASES if not case[5]}
    assert len(hits) == 6


def test_the_rewrite_of_a_condition_that_undoes_an_outer_join_keeps_the_unmatched_rows() -> None:
    query = "select a.id from a left join b on a.id = b.id where {}"
    model = ModelState("m", query.format("not b.gone"), "duckdb")
    [finding] = [one for one in findings(None, model) if one.rule == "outer-join-turned-inner"]
    assert finding.rewrite == "coalesce(b.gone, false) = false"
    with duckdb.connect() as connection:
        connection.execute("create table a as select * from (values (1), (2), (3)) a(id)")
        connection.execute("create table b as select * from (values (1, true), (2, false)) b(id, gone)")
        kept = [sorted(connection.execute(query.format(one)).fetchall()) for one in ("not b.gone", finding.rewrite)]
    assert kept == [[(2,)], [(2,), (3,)]]
    assert [one.rule for one in findings(None, model)].count("null-rows-dropped") == 0


INCREMENTAL = ModelState(
    "m",
    "select id, plan from t",
    "duckdb",
    relation="db.s.m",
    materialized="incremental",
    unique_key=("id",),
    columns=(ColumnState("id", "int", False), ColumnState("plan", "text", True)),
)


def changed(
    rule: str, before: ModelState | None, after: ModelState, *readers: Reader, facts: Facts | None = None
) -> list[Finding]:
    return [finding for finding in findings(before, after, facts, readers) if finding.rule == rule]


def test_an_incremental_model_without_a_key_is_found_when_it_becomes_one() -> None:
    keyless = replace(INCREMENTAL, unique_key=())
    rule = "incremental-without-key"
    assert changed(rule, None, keyless)
    assert changed(rule, replace(keyless, materialized="table"), keyless)
    for fine in (
        INCREMENTAL,
        replace(keyless, strategy="append"),
        replace(keyless, strategy="insert_overwrite"),
        replace(keyless, materialized="table"),
    ):
        assert not changed(rule, None, fine)
    assert not changed(rule, keyless, keyless)


@pytest.mark.parametrize(
    ("raw", "severity"),
    [
        ("{{ config(materialized='incremental') }} select id from {{ ref('t') }}", "dangerous"),
        (
            "{{ config(materialized='incremental') }} select id from t {% if is_incremental() %} where n {% endif %}",
            "look",
        ),
        ("select id from t where n > (select max(n) from {{ this }})", "look"),
        ("select id from t where {{ newer('n') }}", "look"),
        ("{# is_incremental() #} select id from {{ source('a', 't') }}", "dangerous"),
        ("", "look"),
    ],
)
def test_a_keyless_model_that_never_asks_whether_it_is_incremental_adds_all_again(raw: str, severity: str) -> None:
    rule, keyless = "incremental-without-key", replace(INCREMENTAL, unique_key=(), raw=raw)
    (finding,) = changed(rule, replace(keyless, materialized="table"), keyless)
    assert finding.severity == severity
    asking = replace(keyless, raw="select id from t {% if is_incremental() %} where n {% endif %}")
    assert bool(changed(rule, asking, keyless)) == (severity == "dangerous")  # the question was taken out


def test_a_left_join_that_becomes_an_inner_one_repeats_no_more_than_before() -> None:
    sql = "select a.id from a {} join b on a.k = b.k"
    models = {kind: ModelState("m", sql.format(kind), "duckdb") for kind in ("left", "inner", "left outer", "right")}
    for kind in ("inner", "left outer"):
        assert not changed("fan-out-join", models["left"], models[kind])
        assert not changed("fan-out-join", models[kind], models["left"])
    assert changed("fan-out-join", models["left"], models["right"])
    assert changed(
        "fan-out-join", models["left"], replace(models["inner"], sql=sql.format("").replace("a.k = b.k", "a.j = b.j"))
    )


RAW = "select id from t\n{% if is_incremental() %}\nwhere seen > {{ since() }}MORE\n{% endif %}\n"


def test_a_changed_filter_of_an_incremental_model_is_found_in_the_raw_text() -> None:
    before, after = (replace(INCREMENTAL, raw=RAW.replace("MORE", more)) for more in ("", " and not gone"))
    [finding] = changed("incremental-filter-changed", before, after)
    assert "(no condition became (NOT gone))" in finding.sentence
    other = replace(before, raw=before.raw.replace("since()", "since(3)"))
    assert (
        "(seen > {{ since() }}) became (seen > {{ since(3) }})"
        in changed("incremental-filter-changed", before, other)[0].sentence
    )
    assert finding.place.line == 3
    assert "not known whether" in finding.evidence[0]


def test_a_filter_is_compared_as_compiled_where_the_raw_text_cannot_be_read() -> None:
    before = replace(INCREMENTAL, raw="{{ all() }} x (")
    rule = "incremental-filter-changed"
    assert changed(rule, before, replace(before, sql="select id, plan from t where id > 1"))
    assert not changed(rule, before, replace(before, sql="select id, upper(plan) plan from t"))
    assert not changed(rule, INCREMENTAL, replace(INCREMENTAL, sql="select id from t where id > 1", full_refresh=True))
    table = replace(INCREMENTAL, materialized="table")
    assert not changed(rule, table, replace(table, sql="select id, plan from t where id > 1"))


def test_a_changed_unique_key_is_found_and_weighed_by_what_is_known_of_the_new_one() -> None:
    rule, other = "unique-key-changed", replace(INCREMENTAL, unique_key=("plan",))
    assert [one.severity for one in changed(rule, INCREMENTAL, other)] == ["look"]
    repeats = Facts(keys={"db.s.m": (KeyFact(("plan",), duplicates=3),)})
    assert [one.severity for one in changed(rule, INCREMENTAL, other, facts=repeats)] == ["dangerous"]
    assert [one.severity for one in changed(rule, INCREMENTAL, replace(other, unique_key=()))] == ["dangerous"]
    assert not changed(rule, INCREMENTAL, replace(INCREMENTAL, unique_key=("ID",)))
    assert not changed(rule, other, replace(INCREMENTAL, materialized="table"))
    assert not changed(rule, replace(other, unique_key=()), INCREMENTAL)


def test_a_removed_column_names_who_reads_it_and_who_may() -> None:
    rule, after = "removed-column-read", replace(INCREMENTAL, columns=(ColumnState("id"),))
    other, silent = Reader("bi", "dashboard", columns=frozenset({"id"})), Reader("fct", "model")
    certain, possible = changed(rule, INCREMENTAL, after, SYNC, other, silent)
    assert (certain.severity, certain.certainty) == ("dangerous", "certain")
    assert "the sync events" in certain.sentence
    assert "bi" not in certain.sentence
    assert (possible.severity, possible.certainty) == ("look", "possible")
    assert "not known whether the model fct reads it" in possible.sentence
    assert not changed(rule, INCREMENTAL, after, other)
    assert [one.severity for one in changed(rule, INCREMENTAL, after)] == ["info"]
    assert not changed(rule, INCREMENTAL, INCREMENTAL, SYNC)


def test_columns_are_told_by_the_last_select_where_no_catalog_tells_them() -> None:
    bare = replace(INCREMENTAL, columns=None)
    assert changed("removed-column-read", bare, replace(bare, sql="select id from t"), SYNC)
    assert not changed("removed-column-read", bare, replace(bare, sql="select * from t"), SYNC)


def test_a_mirror_sync_wants_a_table() -> None:
    for kind in ("view", "ephemeral", "materialized_view"):
        assert changed("mirror-view", INCREMENTAL, replace(INCREMENTAL, materialized=kind), SYNC)
    view = replace(INCREMENTAL, materialized="view")
    assert changed("mirror-view", None, view, SYNC)
    assert not changed("mirror-view", INCREMENTAL, view, replace(SYNC, mode="append"))
    assert not changed("mirror-view", view, view, SYNC)
    assert not changed("mirror-view", view, INCREMENTAL, SYNC)


def test_rows_that_may_become_identical_under_a_mirror_sync_are_found() -> None:
    rule, distinct = "mirror-identical-rows", replace(INCREMENTAL, sql="select distinct id, plan from t")
    union = replace(INCREMENTAL, sql="select id, plan from t union all select id, plan from u")
    joined = replace(INCREMENTAL, sql="select t.id, plan from t join u on u.id = t.id")
    tested = Facts(keys={"db.s.m": (KeyFact(("id",), tested=True),)})
    repeats = Facts(keys={"db.s.m": (KeyFact(("id",), duplicates=3),)})
    for before, after in ((None, INCREMENTAL), (distinct, INCREMENTAL), (INCREMENTAL, union), (INCREMENTAL, joined)):
        assert [one.certainty for one in changed(rule, before, after, SYNC)] == ["possible"]
        assert [one.certainty for one in changed(rule, before, after, SYNC, facts=repeats)] == ["certain"]
        assert not changed(rule, before, after, SYNC, facts=tested)
        assert not changed(rule, before, after, replace(SYNC, mode="full"))
    assert not changed(rule, INCREMENTAL, distinct, SYNC)


def test_only_a_new_nullable_column_is_a_quiet_schema_change_under_a_mirror_sync() -> None:
    def found(*columns: ColumnState) -> list[tuple[str, str]]:
        after = replace(INCREMENTAL, columns=columns)
        return [(one.severity, one.certainty) for one in changed("mirror-schema", INCREMENTAL, after, SYNC)]

    one, two = INCREMENTAL.columns or ()
    assert found(one, two, ColumnState("new", "text", True)) == []
    assert found(one, two, ColumnState("new", "text", False)) == [("look", "certain")]
    assert found(one, two, ColumnState("new", "text")) == [("info", "possible")]
    assert found(one) == [("dangerous", "certain")]
    assert found(one, replace(two, type="int")) == [("dangerous", "certain")]
    assert found(one, replace(two, type="TEXT")) == []
    assert found(one, replace(two, nullable=False)) == [("look", "certain")]
    assert not changed("mirror-schema", INCREMENTAL, replace(INCREMENTAL, columns=(one,)))


def test_dropping_and_making_again_is_found_under_a_mirror_sync() -> None:
    rule, table = "mirror-recreated", replace(INCREMENTAL, materialized="table")
    assert [one.certainty for one in changed(rule, INCREMENTAL, table, SYNC)] == ["possible"]
    assert [one.certainty for one in changed(rule, INCREMENTAL, replace(INCREMENTAL, full_refresh=True), SYNC)] == [
        "certain"
    ]
    assert [one.certainty for one in changed(rule, INCREMENTAL, replace(INCREMENTAL, relation="db.s.n"), SYNC)] == [
        "certain"
    ]
    assert not changed(rule, table, table, SYNC)
    assert not changed(rule, table, INCREMENTAL, SYNC)
    assert not changed(rule, INCREMENTAL, table)
    assert not changed(rule, INCREMENTAL, replace(INCREMENTAL, relation='"DB"."S"."M"'), SYNC)


UNREADABLE = [
    "not sql (", "select 1; select 2", "\x00\x01\x02", "drop table t", "(" * 5000, "select " + "not " * 5000 + "x",
    "select '" + "a" * 1_100_000 + "'", "select * from t where " + "(" * 3000 + "x" + ")" * 3000,
    "{{ all() }} and more {% if", "select from where", "-- only words",
]  # fmt: skip


@pytest.mark.parametrize("sql", UNREADABLE, ids=lambda sql: sql[:20])
def test_what_cannot_be_read_gives_one_finding_and_no_exception(sql: str) -> None:
    found = findings(None, ModelState("m", sql, "duckdb"))
    assert [finding.rule for finding in found] == [UNREAD]
    assert "could not be read" in found[0].sentence


def test_an_unknown_dialect_is_said_too() -> None:
    [finding] = findings(None, ModelState("m", "select 1 as x", "klingon"))
    assert finding.rule == UNREAD
    assert "klingon" in finding.sentence


def test_what_could_not_be_read_before_the_change_is_said() -> None:
    found = findings(ModelState("m", "not sql (", "duckdb"), ModelState("m", "select * from t where not x", "duckdb"))
    assert rules(found) == {UNREAD, "null-rows-dropped"}
    assert findings(None, ModelState("seed", "", "duckdb")) == []


def test_the_gravest_findings_come_first() -> None:
    nulls = Facts({("t", "x"): ColumnFact(nulls=1)})
    model = ModelState("m", "select t.a / 2 as h from t join u on u.id = t.id where not t.x", "postgres")
    assert [finding.severity for finding in findings(None, model, nulls)] == ["dangerous", "look", "look"]


def test_a_wide_query_is_looked_through_in_time() -> None:
    one, other = ([f"{letter}{number} <> 'x'" for number in range(150)] for letter in "cd")
    conditions = f"{' and '.join(one)} and ({' or '.join(other)})"
    started = time.monotonic()
    assert len(findings(None, ModelState("m", f"select * from t where {conditions}", "duckdb"))) == 151
    assert time.monotonic() - started < 10


def test_every_lint_is_told_in_its_docstring() -> None:
    assert all(lint.__doc__ for lint in LINTS)
    assert len(LINTS) == len(set(LINTS)) == 15


def test_an_empty_select_list_is_survived() -> None:
    before, after = (
        ModelState("m", f"select {word} from a join b on b.id = a.id", "databricks") for word in ("", "distinct")
    )
    assert "distinct-hides-fan-out" in rules(findings(before, after))
