"""What may be rehearsed, what may not and why, and the profile that the rehearsal gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from approvals.rehearsal_guard import duckdb_profile, refuse_reason

MODEL = "dbt/models/marts/orders.sql"
PROPERTIES = "dbt/models/marts/schema.yml"
BEFORE = """{{ config(materialized='table', tags=['nightly']) }}
select o.*, {{ var('rate', 2) }} as rate
from {{ ref('stg_orders') }} as o
{% if is_incremental() %} where o.at > (select max(at) from {{ this }}) {% endif %}
where not o.test_order
"""
AFTER = BEFORE.replace("where not o.test_order", "where o.test_order is not true")
YML_BEFORE = """version: 2
models:
  - name: orders
    description: "Every order. {{ doc('orders') }}"
    config:
      post-hook: "grant select on {{ this }} to reporter"
    columns:
      - name: id
        data_tests: [unique]
"""
YML_AFTER = (
    YML_BEFORE
    + """      - name: test_order
        data_tests:
          - not_null
          - relationships:
              arguments: {to: ref('flags'), field: id}
"""
)


def patch(*paths: str, mode: str = "100644") -> str:
    return "".join(
        f"diff --git a/{path} b/{path}\nindex 111..222 {mode}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n"
        for path in paths
    )


def reason(before: dict[str, str], after: dict[str, str], text: str | None = None) -> str | None:
    paths = sorted(path for path in before | after if before.get(path) != after.get(path))
    return refuse_reason(
        patch(*paths) if text is None else text,
        {path: content.encode() for path, content in before.items()},
        {path: content.encode() for path, content in after.items()},
        model_paths=["dbt/models"],
    )


def sql_reason(after: str, before: str = BEFORE) -> str | None:
    return reason({MODEL: before}, {MODEL: after})


def yml_reason(after: str, before: str = YML_BEFORE) -> str | None:
    return reason({PROPERTIES: before}, {PROPERTIES: after})


def test_a_null_safe_filter_and_a_not_null_test_are_rehearsed() -> None:
    assert reason({MODEL: BEFORE, PROPERTIES: YML_BEFORE}, {MODEL: AFTER, PROPERTIES: YML_AFTER}) is None


def test_a_new_plain_model_and_a_deleted_one_are_rehearsed() -> None:
    loop = "{% set names = ['a', 'b'] %}{% for n in names %}select '{{ n }}' {% if not loop.last %}union all{% endif %}"
    assert reason({}, {MODEL: loop + "{% endfor %}{# a comment #}"}) is None
    assert reason({MODEL: BEFORE}, {}) is None


def test_macros_that_were_there_already_do_not_stop_a_change_of_the_sql_around_them() -> None:
    before = "{{ config(post_hook='analyze') }} select {{ some_package.star(ref('a')) }} from {{ ref('a') }}"
    assert sql_reason(before + " where x is not true", before) is None
    assert "post_hook" in str(sql_reason(before + " {{ ref('b') }}", before))


@pytest.mark.parametrize(
    "added",
    [
        "{{ config(pre_hook='drop table x') }}",
        "{{ config(post_hook=['drop table x']) }}",
        "{{ config({'pre-hook': 'drop table x'}) }}",
        "{{ config(**{'pre_hook': 'x'}) }}",
        "{{ config(materialized='external') }}",
        "{{ config(materialized='external' if true else 'table') }}",
        "{{ config(materialized='my_own') }}",
        "{{ config(sql_header='drop table x') }}",
        "{{ config(location='/etc/x') }}",
        "{{ config(schema='elsewhere') }}",
        "{{ config(tags=[run_query('select 1')]) }}",
        "{{ config(meta={'a': env_var('HOME')}) }}",
        "{% do run_query('drop table x') %}",
        "{% set x = run_query('select 1') %}",
        "{% set ref = 1 %}",
        "{% set x %}select 1{% endset %}",
        "{% call statement('x') %}drop table x{% endcall %}",
        "{%- call statement('x') -%}drop table x{%- endcall -%}",
        "{% macro m() %}x{% endmacro %}",
        "{% raw %}{{ x }}{% endraw %}",
        "{% filter upper %}x{% endfilter %}",
        "{% materialization m, default %}{% endmaterialization %}",
        "{% include 'x' %}",
        "{% import 'x' as y %}",
        "{% if run_query('x') %}{% endif %}",
        "{% for x in modules.os %}{% endfor %}",
        "{{ run_query('drop table x') }}",
        "{{ statement('x') }}",
        "{{ env_var('HOME') }}",
        "{{ modules.datetime.datetime.now() }}",
        "{{ adapter.drop_relation(this) }}",
        "{{ adapter['drop_relation'](this) }}",
        "{{ context['run_' ~ 'query']('x') }}",
        "{{ ref('a').__class__ }}",
        "{{ ''.__class__ }}",
        "{{ this.render() }}",
        "{{ ref('a') | attr('x') }}",
        "{{ ref('a' ~ 'b') }}",
        "{{ ref(*['a']) }}",
        "{{ var('x', run_query('y')) }}",
        "{{ source('a', graph) }}",
        "{{ my_macro() }}",
        "{{ dbt.run_query('x') }}",
        "{{ log('x') }}",
        "{{ unknown }}",
        "{{ (lambda: 1)() }}",
        "{{ [x for x in 'a'] }}",
        "{{ 1 if true else 2 }}",
        "{{ ref('a') ",
        "{% if true ",
        "{# never ended",
        "{{ '}}' }} {{ run_query('x') }}",
        "-- {{ run_query('x') }}",
        "/* {{ run_query('x') }} */",
        "{# {{ #} {{ run_query('x') }} {# }} #}",
        "{{ }}",
    ],
)
def test_jinja_that_runs_anything_is_refused_in_old_and_new_models(added: str) -> None:
    for text in (sql_reason(AFTER + added), reason({}, {MODEL: "select 1 " + added})):
        assert text is not None
        assert text.startswith(MODEL)
        assert text.endswith(".")


def test_hostile_nesting_and_repetition_end_quickly() -> None:
    for text in (
        "{{" * 400_000,
        "{% " + " " * 900_000,
        "{{ " + "not " * 5_000 + "true }}",
        "{{ " + "[" * 5_000 + " }}",
    ):
        assert reason({}, {MODEL: text}) is not None
    for text in ("exposures: " + "[" * 20_000, "exposures: " + "{a: " * 300 + "1" + "}" * 300 + "\nmacros: 1"):
        assert yml_reason(text) is not None


def test_sql_inside_a_capturing_tag_is_refused_although_the_jinja_is_unchanged() -> None:
    for opening, closing in (("call statement('x')", "endcall"), ("set q", "endset"), ("filter upper", "endfilter")):
        before = f"{{% {opening} %}}select 1{{% {closing} %}} select 2"
        assert sql_reason(before.replace("select 1", "drop table x"), before) is not None


@pytest.mark.parametrize(
    "added",
    [
        "  - name: other\n    config: {pre_hook: drop table x}\n",
        "  - name: other\n    config:\n      post-hook: [drop table x]\n",
        "  - name: other\n    config: {+post-hook: drop table x}\n",
        "  - name: other\n    config: {materialized: external}\n",
        "  - name: other\n    config: {sql_header: drop table x}\n",
        "  - name: other\n    config: {schema: elsewhere}\n",
        "  - name: other\n    description: \"{{ env_var('HOME') }}\"\n",
        "  - name: other\n    description: \"{% do run_query('x') %}\"\n",
        "  - name: other\n    \"{{ env_var('HOME') }}\": x\n",
        "  - name: other\n    data_tests: [{relationships: {arguments: {to: \"env_var('HOME')\", field: id}}}]\n",
        "  - name: other\n    data_tests: [{relationships: {to: \"ref('a') ~ run_query('x')\", field: id}}]\n",
        "  - name: other\n    data_tests: [my_package.my_test]\n",
        "  - name: other\n    data_tests: [{my_test: {argument: x}}]\n",
        "  - name: other\n    tests: [{name: innocent, test_name: my_test}]\n",
        "macros:\n  - name: m\n",
        "on-run-start: drop table x\n",
        "seeds:\n  - name: s\n    config: {pre-hook: x}\n",
        "sources:\n  - name: s\n    meta: {external_location: /etc/passwd}\n    tables: [{name: t}]\n",
        "sources:\n  - name: s\n    tables: [{name: t, config: {external_location: /etc/passwd}}]\n",
        "sources:\n  - name: s\n    config: {plugin: excel}\n",
        "unit_tests:\n  - name: u\n    given: [{input: ref('a'), format: csv, fixture: f}]\n",
        "unit_tests:\n  - name: u\n    overrides: {macros: {m: x}}\n",
        "exposures: &a [1]\nmetrics: *a\n",
        "1: x\n",
        "exposures: !!python/object/apply:os.system ['x']\n",
        "exposures: [\n",
    ],
)
def test_properties_that_run_anything_are_refused(added: str) -> None:
    assert yml_reason(YML_BEFORE + added) is not None


def test_properties_that_were_there_already_are_nothing_added_but_a_changed_hook_is() -> None:
    assert yml_reason(YML_AFTER) is None
    assert yml_reason(YML_BEFORE.replace("to reporter", "to everybody")) == f"{PROPERTIES} sets 'post-hook'."
    assert yml_reason("", "") is not None
    assert yml_reason("- a list\n") is not None


def test_a_source_may_say_where_it_lies() -> None:
    assert (
        yml_reason(YML_BEFORE + "sources:\n  - name: s\n    database: raw\n    schema: app\n    tables: [{name: t}]\n")
        is None
    )


@pytest.mark.parametrize(
    "path",
    [
        "dbt/macros/m.sql", "dbt/dbt_project.yml", "dbt/profiles.yml", "dbt/packages.yml", "dbt/models/x.py",
        "dbt/models/x.csv", "dbt/models/../macros/m.sql", "/dbt/models/x.sql", "dbt/models\\x.sql", "dbt/models.sql",
        "dbt/models//x.sql", "./dbt/models/x.sql", "dbt/models/x\x07.sql", ".git/hooks/x.sql", "dbt/models",
    ],
)  # fmt: skip
def test_only_models_and_properties_under_the_model_paths_are_rehearsed(path: str) -> None:
    text = reason({}, {path: "select 1"})
    assert text is not None
    assert text.endswith(".")


def test_the_diff_and_the_files_must_tell_the_same_story() -> None:
    assert reason({MODEL: BEFORE}, {MODEL: BEFORE}) is not None
    assert reason({}, {}, "") is not None
    assert reason({MODEL: BEFORE}, {MODEL: AFTER}, "") is not None
    assert reason({MODEL: BEFORE}, {MODEL: AFTER}, patch(MODEL, "dbt/macros/m.sql")) is not None
    assert (
        reason({MODEL: BEFORE, PROPERTIES: YML_BEFORE}, {MODEL: AFTER, PROPERTIES: YML_AFTER}, patch(MODEL)) is not None
    )
    renamed = f"diff --git a/dbt/macros/m.sql b/{MODEL}\nsimilarity index 100%\nrename from dbt/macros/m.sql\n"
    assert reason({}, {MODEL: "select 1"}, renamed) is not None


@pytest.mark.parametrize(
    "line",
    ["new file mode 120000", "old mode 100644\nnew mode 100755", "new file mode 160000", "GIT binary patch",
     "Binary files a/x and b/x differ", "index 111..222 120000"],
)  # fmt: skip
def test_links_submodules_modes_and_binaries_are_refused(line: str) -> None:
    text = f"diff --git a/{MODEL} b/{MODEL}\n{line}\n"
    assert reason({}, {MODEL: "select 1"}, text) is not None


def test_unreadable_and_huge_files_are_refused() -> None:
    for content in (b"\xff\xfe", b" " * 1_000_001):
        assert refuse_reason(patch(MODEL), {}, {MODEL: content}, model_paths=["dbt/models"]) is not None
    many = {f"dbt/models/m{n}.sql": b"select 1" for n in range(201)}
    assert refuse_reason(patch(*many), {}, many, model_paths=["dbt/models"]) is not None
    assert refuse_reason(patch(MODEL), {}, {MODEL: b"select 1"}, model_paths=["", "."]) is not None


def test_the_profile_shuts_files_network_and_settings_and_keeps_the_databases_name(tmp_path: Path) -> None:
    profile = duckdb_profile(tmp_path / "shop.duckdb", profile="shop", database="shop", schema="analytics")
    options = profile["shop"]["outputs"]["rehearsal"]["config_options"]
    assert options["enable_external_access"] is False
    assert options["lock_configuration"] is True
    assert options["memory_limit"] == "500MB"
    assert profile["shop"]["target"] == "rehearsal"
    for path, database in ((tmp_path / "copy.duckdb", "shop"), (Path("shop.duckdb"), "shop")):
        with pytest.raises(ValueError, match="copy"):
            duckdb_profile(path, profile="shop", database=database)
