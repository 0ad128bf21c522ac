"""What changed between two builds: dbt's own answer, and what dbt does not say."""
# ruff: noqa: S608 -- the queries are made of constants of this file

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from catalog.diff.manifests import ManifestDiff, Modified, Renamed, diff
from catalog.sources import manifest
from tests.catalog.dbt_files import CORPUS, as_bytes, dbt, document, model, needs_corpus, project, source

A, B = "model.shop.a", "model.shop.b"


def compare(before: dict[str, Any], after: dict[str, Any]) -> ManifestDiff:
    return diff(manifest.read(as_bytes(before)), manifest.read(as_bytes(after)))


def chain(code: str = "select * from x", **fields: Any) -> dict[str, Any]:
    return document(source("raw"), model("a", code, "source.shop.app.raw", **fields), model("b", "select 2", A))


@pytest.mark.parametrize(
    ("fields", "changes"),
    [
        ({"code": "select * from x where not flag"}, ("body",)),
        ({"unrendered_config": {"materialized": "view"}}, ("config",)),
        ({"unrendered_config": {"schema": "other"}}, ("relation",)),
        ({"fqn": ["shop", "folder", "a"]}, ("fqn",)),
        ({"contract": {"enforced": True, "checksum": "1"}}, ("contract",)),
        (
            {"config": {"materialized": "table", "persist_docs": {"relation": True}}, "description": "new"},
            ("description",),
        ),
        ({"description": "new"}, ()),
        ({"unrendered_config": {"tags": ["x"], "group": "y"}}, ()),
        ({"created_at": 5, "compiled_path": "elsewhere", "build_path": "x", "path": "y"}, ()),
        ({"relation_name": '"shop"."dev"."a"', "schema": "dev", "database": "other"}, ()),
    ],
)
def test_each_kind_of_change_is_named_and_the_environment_is_none(
    fields: dict[str, Any], changes: tuple[str, ...]
) -> None:
    found = compare(chain(), chain(**fields))
    assert [item.changes for item in found.modified] == ([changes] if changes else [])
    assert found.downstream == ((A, B) if changes else ())


def test_another_dbt_version_and_invocation_is_no_change() -> None:
    after = chain()
    after["metadata"] |= {"dbt_version": "1.8.0", "generated_at": "now", "invocation_id": "x"}
    assert compare(chain(), after).modified == ()


def test_added_removed_and_renamed_nodes_are_listed_and_what_reads_an_added_one_is_downstream() -> None:
    before = document(model("a", "select 1 as x"), model("old", "select 3 as y"))
    after = document(
        model("a", "select 1 as x"), model("new", "select 3 as y"), model("c", "select 4", "model.shop.new")
    )
    found = compare(before, after)
    assert (found.added, found.removed) == (("model.shop.c", "model.shop.new"), ("model.shop.old",))
    assert found.renamed == (Renamed("model.shop.old", "model.shop.new"),)
    assert found.downstream == ("model.shop.c", "model.shop.new")


def test_a_name_that_differs_in_case_only_is_a_renamed_node() -> None:
    found = compare(document(model("a", "select 1")), document(model("A", "select 2")))
    assert found.renamed == (Renamed("model.shop.a", "model.shop.A"),)


def test_content_that_two_models_share_proves_no_renaming() -> None:
    found = compare(document(model("a"), model("b")), document(model("c"), model("d")))
    assert found.renamed == ()


def test_a_changed_macro_changes_the_nodes_that_call_it_through_others() -> None:
    def with_macro(text: str) -> dict[str, Any]:
        inner = {"unique_id": "macro.shop.inner", "macro_sql": text, "depends_on": {"macros": []}}
        outer = {"unique_id": "macro.shop.outer", "macro_sql": "o", "depends_on": {"macros": ["macro.shop.inner"]}}
        calls = {"nodes": [], "macros": ["macro.shop.outer"]}
        return document(
            model("a", depends_on=calls), model("b"), macros={item["unique_id"]: item for item in (inner, outer)}
        )

    found = compare(with_macro("1"), with_macro("2"))
    assert [(item.unique_id, item.changes) for item in found.modified] == [
        ("macro.shop.inner", ("body",)),
        (A, ("macro",)),
    ]
    assert (found.macros, found.downstream) == (("macro.shop.inner",), (A,))
    (row_set,) = found.modified[1].row_set
    assert (row_set.direction, row_set.basis) == ("unknown", "raw")
    assert "only a macro changed" in row_set.note


def test_seeds_are_compared_by_their_content() -> None:
    def seed(digest: str) -> dict[str, Any]:
        entry = model("s", "", checksum={"name": "sha256", "checksum": digest})
        return document({**entry, "unique_id": "seed.shop.s", "resource_type": "seed"})

    assert [item.changes for item in compare(seed("1"), seed("2")).modified] == [("seed",)]


def test_a_source_that_moved_with_the_target_is_no_change_and_one_that_moved_alone_is() -> None:
    moved = copy.deepcopy(chain())
    moved["nodes"][A] |= {"database": "dev", "schema": "main"}
    moved["nodes"][B] |= {"database": "dev", "schema": "main"}
    alone = copy.deepcopy(chain())
    alone["sources"]["source.shop.app.raw"]["schema"] = "elsewhere"
    with_target = copy.deepcopy(moved)
    start = chain()
    for item in (start, with_target):
        item["sources"]["source.shop.app.raw"]["schema"] = "main"
    with_target["sources"]["source.shop.app.raw"]["database"] = "dev"
    assert compare(start, with_target).modified == ()
    assert "different places" in compare(start, with_target).notes[0]
    rewritten = copy.deepcopy(with_target)
    for item, text in ((start, "{{ target.database }}"), (rewritten, "{{ var('where') }}")):
        item["sources"]["source.shop.app.raw"]["unrendered_database"] = text
    assert [item.changes for item in compare(start, rewritten).modified] == [("relation",)]
    assert [(item.unique_id, item.changes) for item in compare(chain(), alone).modified] == [
        ("source.shop.app.raw", ("relation",))
    ]


def test_the_added_filter_is_classified_from_compiled_code_whose_relations_moved_with_the_target() -> None:
    def built(schema: str, tail: str) -> dict[str, Any]:
        relation = f'"shop"."{schema}"."a"'
        reader = model(
            "b", "select * from {{ ref('a') }} a" + tail, A, compiled_code=f"select * from {relation} a{tail}"
        )
        return document(model("a", relation_name=relation, schema=schema), reader)

    (changed,) = compare(built("prod", ""), built("dev", " where not a.flag")).modified
    (row_set,) = changed.row_set
    assert (changed.unique_id, changed.changes) == (B, ("body",))
    assert (row_set.kind, row_set.predicate, row_set.direction, row_set.basis) == (
        "filter_added",
        "NOT a.flag",
        "can_only_drop",
        "compiled",
    )


def test_code_that_was_not_compiled_is_compared_raw_and_says_so() -> None:
    (changed,) = compare(
        chain("select * from {{ ref('x') }}"), chain("select * from {{ ref('x') }} where not flag")
    ).modified
    assert [(item.kind, item.basis) for item in changed.row_set] == [("filter_added", "raw")]


def test_a_variable_seen_only_in_compiled_code_is_a_change_of_its_own() -> None:
    def built(value: int, **config: str) -> dict[str, Any]:
        raw = "select * from x where v > {{ var('v') }}"
        return document(
            model(
                "a", raw, compiled_code=f"select * from x where v > {value}", config={"materialized": "table", **config}
            )
        )

    (changed,) = compare(built(1), built(2)).modified
    assert (changed.changes, changed.row_set[0].kind) == (("compiled",), "filter_changed")
    assert compare(built(1, materialized="incremental"), built(2, materialized="incremental")).modified == ()


def test_manifests_of_two_projects_are_said_to_be_so() -> None:
    other = chain()
    other["metadata"]["project_name"] = "elsewhere"
    assert "two projects" in compare(chain(), other).notes[0]


@needs_corpus
@pytest.mark.parametrize(
    "pair", sorted(path.name for path in Path(CORPUS or "/nowhere").glob("pairs/*") if path.is_dir())
)
def test_public_pairs_give_dbts_own_answer(pair: str) -> None:
    folder = Path(CORPUS) / "pairs" / pair

    def listed(name: str) -> list[str]:
        return (folder / f"{name}.txt").read_text().split()

    found = diff(manifest.read_file(folder / "base.json"), manifest.read_file(folder / "head.json"))
    ids = [item.unique_id for item in found.modified]
    assert sorted([*ids, *found.added]) == listed("modified_strict")
    assert [item for item in ids if item.startswith("model.")] == listed("modified_models")
    assert [item.unique_id for item in found.modified if "body" in item.changes] == listed("modified_body_strict")
    assert [item.unique_id for item in found.modified if "config" in item.changes] == listed("modified_configs_strict")
    assert [item.unique_id for item in found.modified if "macro" in item.changes] == listed("modified_macros_strict")
    assert (list(found.added), list(found.removed)) == (listed("new_strict"), listed("removed"))
    assert list(found.downstream) == listed("modified_plus")
    shown = [item for item in found.downstream if item.startswith(("model.", "exposure."))]
    assert shown == listed("modified_plus_models_exposures")


@pytest.mark.dbt
@pytest.mark.real
def test_real_dbt_selects_the_same_nodes_as_modified(tmp_path: Path) -> None:
    files = {
        "models/a.sql": "select 1 as id, true as flag",
        "models/b.sql": "select * from {{ ref('a') }}",
        "models/c.sql": "select {{ one() }} as x from {{ ref('b') }}",
        "models/d.sql": "select 1 as y",
        "models/schema.yml": "models:\n  - name: b\n    columns: [{name: id, data_tests: [not_null]}]\n",
        "macros/one.sql": "{% macro one() %}1{% endmacro %}",
    }
    folder = project(tmp_path, files)
    dbt(folder, "compile", "--quiet")
    shutil.copytree(folder / "target", tmp_path / "base")
    (folder / "models/d.sql").unlink()
    changed = {
        "models/b.sql": "select * from {{ ref('a') }} a where not a.flag",
        "models/n.sql": "select 5 as z",
        "macros/one.sql": "{% macro one() %}2{% endmacro %}",
    }
    project(tmp_path, {**files, **changed, "models/d.sql": "select 1 as y"}, schema="dev")
    (folder / "models/d.sql").unlink()
    dbt(folder, "compile", "--quiet")
    found = diff(
        manifest.read_file(tmp_path / "base/manifest.json"), manifest.read_file(folder / "target/manifest.json")
    )
    keys = ("--output", "json", "--output-keys", "unique_id")
    select = ("ls", "--quiet", "--state", str(tmp_path / "base"), "--select")
    strict = dbt(folder, *select, "state:modified", "--indirect-selection", "empty", *keys)
    plus = dbt(folder, *select, "state:modified+", *keys)

    def ids(text: str) -> list[str]:
        return sorted(json.loads(line)["unique_id"] for line in text.splitlines())

    nodes = [item for item in found.modified if not item.unique_id.startswith("macro.")]
    assert sorted([*(item.unique_id for item in nodes), *found.added]) == ids(strict)
    assert list(found.downstream) == ids(plus)
    assert found.removed == ("model.shop.d",)
    assert [(item.unique_id, item.changes) for item in nodes] == [
        ("model.shop.b", ("body",)),
        ("model.shop.c", ("macro",)),
    ]
    assert [change.kind for change in _of(found.modified, "model.shop.b").row_set] == ["filter_added"]


def _of(modified: tuple[Modified, ...], unique_id: str) -> Modified:
    return next(item for item in modified if item.unique_id == unique_id)
