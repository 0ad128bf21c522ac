"""One real dbt project and many small changes of it; each with the kinds of change that a diff has to name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

YEAR = "cast('2026-01-01' as date)"
FILES = {
    "profiles.yml": (
        "shop: {target: dev, outputs: {dev: {type: duckdb, path: shop.duckdb, schema: main, threads: 1}}}\n"
    ),
    "dbt_project.yml": (
        "name: shop\nversion: '1.0'\nprofile: shop\nflags: {send_anonymous_usage_stats: false}\n"
        "vars: {limit: 10, full: false}\nmodels: {shop: {+persist_docs: {relation: false}}}\n"
        "on-run-start: [\"select 1\"]\n"
    ),
    "packages.yml": "packages: [{local: lib}]\n",
    "lib/dbt_project.yml": "name: lib\nversion: '1.0'\nprofile: shop\n",
    "lib/models/lib_model.sql": "select {{ lib_number() }} as n",
    "lib/macros/lib.sql": "{% macro lib_number() %}1{% endmacro %}",
    "seeds/countries.csv": "code,name\nde,Germany\n",
    "models/orders.sql": f"select 1 as id, 5 as amount, 'de' as code, {YEAR} as sold_on",
    "models/late.sql": "select * from {{ ref('orders') }} where amount > {{ var('limit') }}",
    "models/direct.sql": "select {{ inner() }} as x from {{ ref('late') }}",
    "models/through.sql": "select {{ outer() }} as x from {{ ref('late') }}",
    "models/described.sql": "{{ config(persist_docs={'relation': true, 'columns': true}) }} select 1 as id",
    "models/plain.sql": "select 1 as id",
    "models/by_variable.sql": "{{ config(full_refresh=var('full')) }} select 1 as id",
    "models/promised.sql": "{{ config(materialized='table', on_schema_change='fail') }} select 1 as id",
    "models/reads_source.sql": "select * from {{ source('app', 'events') }}",
    "models/Cased.sql": "select 7 as seven",
    "models/old_name.sql": "select 'quite' as rare, 'content' as here",
    "models/spine.sql": f"select {YEAR} as date_day",
    "models/versioned_v1.sql": "select 1 as v",
    "models/versioned_v2.sql": "select 2 as v",
    "macros/macros.sql": "{% macro inner() %}1{% endmacro %}\n{% macro outer() %}{{ inner() }} + 1{% endmacro %}\n",
    "macros/alone.sql": "{% macro alone() %}1{% endmacro %}",
    "macros/even.sql": "{% test even(model, column_name, by=2) %}select 1 from {{ model }} where 1 = 0{% endtest %}",
    "analyses/look.sql": "select * from {{ ref('late') }}",
    "tests/singular.sql": "select * from {{ ref('late') }} where id is null",
    "snapshots/s.sql": (
        "{% snapshot orders_snapshot %}{{ config(target_schema='snap', unique_key='id', strategy='check',"
        " check_cols='all') }}select * from {{ ref('orders') }}{% endsnapshot %}"
    ),
    "models/late.yml": (
        "models:\n  - name: late\n    columns: [{name: id, data_tests: [not_null, {even: {by: 2}}]}]\n"
        "unit_tests:\n  - {name: adds, model: late, given: [{input: \"ref('orders')\", rows: [{id: 1, amount: 50}]}],\n"
        "     expect: {rows: [{id: 1}]}}\n"
    ),
    "models/described.yml": (
        "models:\n  - {name: described, description: first, columns: [{name: id, description: first}]}\n"
    ),
    "models/plain.yml": "models:\n  - {name: plain, description: first, columns: [{name: id, description: first}]}\n",
    "models/promised.yml": (
        "models:\n  - {name: promised, config: {contract: {enforced: true}},\n"
        "     columns: [{name: id, data_type: integer}]}\n"
    ),
    "models/versioned.yml": "models:\n  - {name: versioned, latest_version: 2, versions: [{v: 1}, {v: 2}]}\n",
    "models/spine.yml": (
        "models:\n  - {name: spine, time_spine: {standard_granularity_column: date_day},\n"
        "     columns: [{name: date_day, granularity: day}]}\n"
    ),
    "models/sources.yml": (
        "sources:\n  - {name: app, schema: main, tables: [{name: events, loaded_at_field: at,\n"
        "     freshness: {warn_after: {count: 1, period: day}}}]}\n"
    ),
    "models/moving.yml": "sources:\n  - {name: moving, schema: \"{{ target.schema }}\", tables: [{name: things}]}\n",
    "models/groups.yml": "groups:\n  - {name: finance, owner: {name: Finance, email: finance@example.com}}\n",
    "models/semantic.yml": """
semantic_models:
  - name: sales
    model: ref('orders')
    defaults: {agg_time_dimension: sold_on}
    entities: [{name: id, type: primary}]
    dimensions: [{name: sold_on, type: time, type_params: {time_granularity: day}}]
    measures: [{name: total, agg: sum, expr: amount}, {name: most, agg: max, expr: amount}]
""",
    "models/metrics.yml": (
        "metrics:\n  - {name: revenue, label: Revenue, type: simple, type_params: {measure: total}}\n"
    ),
    "models/saved.yml": "saved_queries:\n  - {name: weekly, query_params: {metrics: [revenue]}}\n",
    "models/exposures.yml": (
        "exposures:\n  - {name: board, type: dashboard, owner: {email: a@example.com}, description: first,\n"
        "     depends_on: [\"ref('late')\"]}\n"
    ),
}  # fmt: skip
"""Path and text of each file of the project as it is at first."""


@dataclass(frozen=True)
class Change:
    """What is done to the project, and the answer: `modified` (unique id: kinds), what came, went and was renamed.

    `beyond` are ids that dbt does not list though they changed, `noise` ids that it lists though they did not; both
    with the reason.
    """

    files: Mapping[str, str | None] = field(default_factory=dict)
    modified: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    beyond: Mapping[str, str] = field(default_factory=dict)
    noise: Mapping[str, str] = field(default_factory=dict)


def edit(path: str, before: str, after: str) -> dict[str, str | None]:
    """The file with one text replaced by another."""
    assert before in FILES[path], (path, before)
    return {path: FILES[path].replace(before, after)}


def configured(words: str) -> dict[str, str | None]:
    """The model `plain` with this configuration."""
    return edit("models/plain.yml", "name: plain", f"name: plain, config: {words}")


def moved(path: str, to: str) -> dict[str, str | None]:
    return {path: None, to: FILES[path]}


SOURCE, BOARD, METRIC = "source.shop.app.events", "exposure.shop.board", "metric.shop.revenue"
SEMANTIC, SAVED = "semantic_model.shop.sales", "saved_query.shop.weekly"
EVEN, HOOK_ID = "test.shop.even_late_2__id.4b433ffaf5", "operation.shop.shop-on-run-start-0"
MODELS = (
    "Cased", "described", "direct", "late", "old_name", "orders", "plain", "promised", "reads_source", "spine",
    "through", "versioned.v1", "versioned.v2",
)  # fmt: skip
OF_PROJECT = ("analysis.shop.look", *(f"model.shop.{name}" for name in MODELS))
FORMULA = "dbt does not compare what a metric or a saved query computes"
HOOK = "dbt ls lists no hooks"
PLACE = "dbt compares the place that the target gave; its documentation says so"
CHANGES: Mapping[str, Change] = {
    "nothing": Change(),
    "body": Change(edit("models/orders.sql", "5 as", "6 as"), {"model.shop.orders": ("body",)}),
    "comment": Change(edit("models/plain.sql", "select", "-- why\nselect"), {"model.shop.plain": ("body",)}),
    "analysis": Change(edit("analyses/look.sql", "*", "id"), {"analysis.shop.look": ("body",)}),
    "operation": Change(
        edit("dbt_project.yml", "select 1", "select 2"),
        {"operation.shop.shop-on-run-start-0": ("body",)},
        beyond={"operation.shop.shop-on-run-start-0": HOOK},
    ),
    "config in the model": Change(
        edit("models/promised.sql", "'table'", "'incremental'"), {"model.shop.promised": ("body", "config", "contract")}
    ),
    "config in yaml": Change(configured("{materialized: table}"), {"model.shop.plain": ("config",)}),
    "config in the project": Change(
        edit("dbt_project.yml", "models: {shop: {", "models: {shop: {+full_refresh: true, "),
        {**dict.fromkeys(OF_PROJECT, ("config",)), HOOK_ID: ("config",)},
        beyond={HOOK_ID: HOOK},
    ),
    "tags and meta": Change(configured("{tags: [x], group: finance}")),
    "meta": Change(configured("{meta: {a: 1}}"), {"model.shop.plain": ("config",)}),
    "alias": Change(configured("{alias: other}"), {"model.shop.plain": ("relation",)}),
    "schema": Change(configured("{schema: other}"), {"model.shop.plain": ("relation",)}),
    "macro directly and through another": Change(
        edit("macros/macros.sql", "inner() %}1", "inner() %}2"),
        {"macro.shop.inner": ("body",), "model.shop.direct": ("macro",), "model.shop.through": ("macro",)},
    ),
    "outer macro": Change(
        edit("macros/macros.sql", "+ 1", "+ 2"), {"macro.shop.outer": ("body",), "model.shop.through": ("macro",)}
    ),
    "macro that nobody calls": Change(edit("macros/alone.sql", "1{%", "2{%"), {"macro.shop.alone": ("body",)}),
    "macro removed": Change({"macros/alone.sql": None}, removed=("macro.shop.alone",)),
    "macro renamed": Change(
        edit("macros/alone.sql", "alone()", "lonely()"),
        added=("macro.shop.lonely",),
        removed=("macro.shop.alone",),
        renamed=(("macro.shop.alone", "macro.shop.lonely"),),
    ),
    "test macro": Change(
        edit("macros/even.sql", "1 = 0", "1 = 2"), {"macro.shop.test_even": ("body",), EVEN: ("macro",)}
    ),
    "renamed by case": Change(
        moved("models/Cased.sql", "models/cased.sql"),
        added=("model.shop.cased",),
        removed=("model.shop.Cased",),
        renamed=(("model.shop.Cased", "model.shop.cased"),),
    ),
    "renamed": Change(
        moved("models/old_name.sql", "models/new_name.sql"),
        added=("model.shop.new_name",),
        removed=("model.shop.old_name",),
        renamed=(("model.shop.old_name", "model.shop.new_name"),),
    ),
    "seed": Change(edit("seeds/countries.csv", "Germany", "Deutschland"), {"seed.shop.countries": ("seed",)}),
    "snapshot config": Change(
        edit("snapshots/s.sql", "check_cols='all'", "check_cols=['amount']"),
        {"snapshot.shop.orders_snapshot": ("body", "config")},
    ),
    "snapshot body": Change(
        edit("snapshots/s.sql", "select *", "select id, amount"), {"snapshot.shop.orders_snapshot": ("body",)}
    ),
    "source freshness": Change(edit("models/sources.yml", "count: 1", "count: 2"), {SOURCE: ("config", "freshness")}),
    "source loaded at": Change(
        edit("models/sources.yml", "loaded_at_field: at", "loaded_at_field: seen_at"), {SOURCE: ("config", "freshness")}
    ),
    "source schema": Change(edit("models/sources.yml", "schema: main", "schema: other"), {SOURCE: ("relation",)}),
    "source identifier": Change(
        edit("models/sources.yml", "name: events", "name: events, identifier: e"), {SOURCE: ("relation",)}
    ),
    "source description": Change(edit("models/sources.yml", "name: events", "name: events, description: d")),
    "source tags": Change(
        edit("models/sources.yml", "name: events", "name: events, config: {tags: [x]}"), {SOURCE: ("config",)}
    ),
    "source meta": Change(
        edit("models/sources.yml", "name: events", "name: events, config: {meta: {a: 1}}"), {SOURCE: ("config",)}
    ),
    "source quoting": Change(
        edit("models/sources.yml", "name: events", "name: events, quoting: {identifier: true}"), {SOURCE: ("quoting",)}
    ),
    "exposure owner": Change(edit("models/exposures.yml", "a@", "b@"), {BOARD: ("owner",)}),
    "exposure parents": Change(edit("models/exposures.yml", "ref('late')", "ref('orders')"), {BOARD: ("depends_on",)}),
    "exposure url and label": Change(
        edit("models/exposures.yml", "name: board", "name: board, url: 'https://x.example', label: L"),
        {BOARD: ("url", "description")},
    ),
    "exposure description": Change(edit("models/exposures.yml", "first", "second"), {BOARD: ("description",)}),
    "exposure tags": Change(
        edit("models/exposures.yml", "name: board", "name: board, config: {tags: [x]}"), {BOARD: ("config",)}
    ),
    "exposure meta": Change(
        edit("models/exposures.yml", "name: board", "name: board, config: {meta: {a: 1}}"), {BOARD: ("config",)}
    ),
    "exposure maturity": Change(
        edit("models/exposures.yml", "name: board", "name: board, maturity: high"), {BOARD: ("maturity",)}
    ),
    "exposure moved": Change(moved("models/exposures.yml", "models/deep/exposures.yml"), {BOARD: ("fqn",)}),
    "test arguments": Change(
        edit("models/late.yml", "by: 2", "by: 4"), added=("test.shop.even_late_4__id.10ccfe399e",), removed=(EVEN,)
    ),
    "test severity": Change(
        edit("models/late.yml", "even: {by: 2}", "even: {by: 2, config: {severity: warn}}"), {EVEN: ("config",)}
    ),
    "test where": Change(
        edit("models/late.yml", "even: {by: 2}", "even: {by: 2, config: {where: 'id > 1'}}"), {EVEN: ("config",)}
    ),
    "test tags": Change(edit("models/late.yml", "even: {by: 2}", "even: {by: 2, config: {tags: [x]}}")),
    "singular test": Change(edit("tests/singular.sql", "is null", "is not null"), {"test.shop.singular": ("body",)}),
    "unit test": Change(edit("models/late.yml", "amount: 50", "amount: 60"), {"unit_test.shop.late.adds": ("body",)}),
    "metric formula": Change(
        edit("models/metrics.yml", "measure: total", "measure: most"), {METRIC: ("formula",)}, beyond={METRIC: FORMULA}
    ),
    "metric label": Change(edit("models/metrics.yml", "label: Revenue", "label: Sales"), {METRIC: ("description",)}),
    "metric filter": Change(
        edit(
            "models/metrics.yml",
            "name: revenue",
            "name: revenue, filter: \"{{ Dimension('id__sold_on') }} > '2020-01-01'\"",
        ),
        {METRIC: ("formula",)},
        beyond={METRIC: FORMULA},
    ),
    "metric moved": Change(moved("models/metrics.yml", "models/deep/metrics.yml")),
    "metric meta": Change(
        edit("models/metrics.yml", "name: revenue", "name: revenue, config: {meta: {a: 1}}"), {METRIC: ("config",)}
    ),
    "semantic model": Change(edit("models/semantic.yml", "agg: max", "agg: min"), {SEMANTIC: ("body",)}),
    "semantic model meta": Change(
        edit("models/semantic.yml", "- name: sales", "- name: sales\n    config: {meta: {a: 1}}"),
        {SEMANTIC: ("body", "config")},
    ),
    "semantic model label": Change(edit("models/semantic.yml", "- name: sales", "- name: sales\n    label: L")),
    "semantic model moved": Change(moved("models/semantic.yml", "models/deep/semantic.yml")),
    "saved query": Change(
        edit("models/saved.yml", "metrics: [revenue]", "metrics: [revenue], limit: 5"),
        {SAVED: ("formula",)},
        beyond={SAVED: FORMULA},
    ),
    "saved query description": Change(
        edit("models/saved.yml", "name: weekly", "name: weekly, description: d"), {SAVED: ("description",)}
    ),
    "saved query tags": Change(
        edit("models/saved.yml", "name: weekly", "name: weekly, config: {tags: [x]}"), {SAVED: ("config",)}
    ),
    "contract type": Change(
        edit("models/promised.yml", "data_type: integer", "data_type: bigint"),
        {"model.shop.promised": ("contract", "columns")},
    ),
    "contract size": Change(
        edit("models/promised.yml", "data_type: integer", "data_type: integer, constraints: [{type: not_null}]"),
        {"model.shop.promised": ("contract", "columns")},
    ),
    "contract dropped": Change(
        edit("models/promised.yml", "enforced: true", "enforced: false"),
        {"model.shop.promised": ("config", "contract")},
    ),
    "persisted description": Change(
        edit("models/described.yml", "described, description: first", "described, description: second"),
        {"model.shop.described": ("description",)},
    ),
    "persisted column description": Change(
        edit("models/described.yml", "id, description: first", "id, description: second"),
        {"model.shop.described": ("description",)},
    ),
    "kept description": Change(edit("models/plain.yml", "first", "second")),
    "group owner": Change(edit("models/groups.yml", "finance@", "money@"), {"group.shop.finance": ("owner",)}),
    "latest version": Change(
        edit("models/versioned.yml", "latest_version: 2", "latest_version: 1"),
        dict.fromkeys(("model.shop.versioned.v1", "model.shop.versioned.v2"), ("version",)),
    ),
    "access": Change(configured("{access: public}"), {"model.shop.plain": ("config", "access")}),
    "disabled": Change(configured("{enabled: false}"), removed=("model.shop.plain",)),
    "removed": Change({"models/reads_source.sql": None}, removed=("model.shop.reads_source",)),
    "added": Change({"models/new.sql": "select 9 as nine"}, added=("model.shop.new",)),
    "moved file": Change(moved("models/old_name.sql", "models/deep/old_name.sql"), {"model.shop.old_name": ("fqn",)}),
    "moved yaml": Change(
        moved("models/late.yml", "models/deep/late.yml"),
        {EVEN: ("fqn",), "test.shop.not_null_late_id.04813b8541": ("fqn",)},
    ),
    "package version": Change(
        {**edit("lib/dbt_project.yml", "1.0", "1.1"), **edit("lib/macros/lib.sql", "%}1{%", "%}2{%")},
        {"macro.lib.lib_number": ("body",), "model.lib.lib_model": ("macro",)},
    ),
    "package model": Change(edit("lib/models/lib_model.sql", "as n", "as number"), {"model.lib.lib_model": ("body",)}),
    "variable in code": Change(edit("dbt_project.yml", "limit: 10", "limit: 20")),
    "variable in a configuration": Change(
        edit("dbt_project.yml", "full: false", "full: true"), {"model.shop.by_variable": ("config",)}
    ),
    "target": Change(edit("profiles.yml", "schema: main", "schema: dev"), noise={"source.shop.moving.things": PLACE}),
}


def batches() -> list[dict[str, Change]]:
    """The changes in as few projects as keep them apart: no two in one batch touch files of one name.

    Changes of the whole project stand alone and come last, because dbt then parses all of it again.
    """
    found: list[tuple[set[str], dict[str, Change]]] = []
    for name, change in sorted(CHANGES.items(), key=lambda item: _stems(item[1]) & WHOLE != set()):
        touched = _stems(change)
        place = next((one for one in found if not (touched | one[0]) & WHOLE and not touched & one[0]), None)
        if place is None:
            place = (set(), {})
            found.append(place)
        place[0].update(touched)
        place[1][name] = change
    return [changes for _, changes in found]


WHOLE = {"dbt_project", "profiles"}
TOUCHED_TOO = {"even": {"late"}}
"""A changed test macro changes the tests that call it, which another change of the same batch would take away."""


def _stems(change: Change) -> set[str]:
    stems = {Path(path).stem.lower() for path in change.files}
    return stems.union(*(TOUCHED_TOO.get(stem, set()) for stem in stems))
