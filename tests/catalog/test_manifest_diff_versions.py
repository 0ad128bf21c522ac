"""Two manifests of one project by two versions of dbt: what is written in other words is no change."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from catalog.diff.manifests import ManifestDiff, diff
from catalog.sources import artifact, manifest
from tests.catalog.dbt_files import CORPUS, as_bytes, document, model, needs_corpus, source
from tests.catalog.manifests import exposure

VERSIONS = ("v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v20", None)
A = "model.shop.a"


def compare(before: dict[str, Any], after: dict[str, Any]) -> ManifestDiff:
    return diff(manifest.read(as_bytes(before)), manifest.read(as_bytes(after)))


def shop(**fields: Any) -> dict[str, Any]:
    """A project with one of nearly everything, as dbt 1.11 writes it."""
    promise = {
        "config": {"materialized": "table", "enabled": True, "post-hook": [], "docs": {"show": True}},
        "unrendered_config": {"materialized": "{{ var('how') }}"},
        "contract": {"enforced": True, "checksum": "of 1.11", "alias_types": True},
        "columns": {"id": {"name": "id", "data_type": "int", "constraints": [{"type": "not_null", "to": None}]}},
        "access": "protected", "latest_version": None, "deprecation_date": None,
    }  # fmt: skip
    test = {
        "unique_id": "test.shop.even.1", "resource_type": "test", "name": "even", "raw_code": "{{ test_even() }}",
        "test_metadata": {"name": "even", "kwargs": {"column_name": "id"}}, "fqn": ["shop", "even"],
        "config": {"severity": "ERROR"}, "unrendered_config": {}, "attached_node": A,
        "depends_on": {"nodes": [A], "macros": []},
    }  # fmt: skip
    board = {
        **exposure("board", A)[1], "label": None, "maturity": None, "url": None, "config": {"enabled": True},
        "unrendered_config": {}, "fqn": ["shop", "board"],
    }  # fmt: skip
    unit = {
        "unique_id": "unit_test.shop.a.adds", "resource_type": "unit_test", "name": "adds", "model": "a",
        "given": [{"input": "ref('x')", "rows": [], "fixture": None}], "expect": {"rows": []}, "checksum": "of 1.11",
        "fqn": ["shop", "adds"], "depends_on": {"nodes": [A]},
    }  # fmt: skip
    raw = source("raw", freshness={"warn_after": {"count": None, "period": None}, "filter": None}, loaded_at_field=None)
    found = document(raw, model("a", "select 1 as id", **{**promise, **fields}), test, board)
    found["unit_tests"] = {unit["unique_id"]: unit}
    return found


def written_by(found: dict[str, Any], version: str | None, dbt: str) -> dict[str, Any]:
    """The same project in the words of another version: fields that it does not know are not there."""
    other = copy.deepcopy(found)
    other["metadata"]["dbt_version"] = dbt
    other["metadata"].pop("dbt_schema_version", None)
    if version:
        other["metadata"]["dbt_schema_version"] = f"https://schemas.getdbt.com/dbt/manifest/{version}.json"
    old = version in VERSIONS[:6]
    for node in other["nodes"].values():
        if old:
            node["raw_sql"] = node.pop("raw_code")
        node.pop("access", None)
        node["unrendered_config"].pop("materialized", None)
        if "contract" in node:
            node["contract"] = {"enforced": True, "checksum": f"of {dbt}"}
            node["columns"]["id"]["constraints"] = [{"type": "not_null"}]
    for entry in other["exposures"].values():
        entry.pop("label", None)
        if old:
            entry.pop("config", None)
            entry.pop("unrendered_config", None)
    other["sources"]["source.shop.app.raw"] |= {"freshness": None}
    for unit in other["unit_tests"].values():
        unit["checksum"] = f"of {dbt}"
        unit["given"] = [{"input": "ref('x')", "rows": []}]
    return other


@pytest.mark.parametrize("version", VERSIONS)
def test_the_same_project_written_by_another_version_did_not_change(version: str | None) -> None:
    other = written_by(shop(), version, "1.4.0")
    for found in (compare(other, shop()), compare(shop(), other)):
        assert (found.modified, found.added, found.removed) == ((), (), ())
        assert any("1.4.0" in note for note in found.notes)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("fields", "changes"),
    [
        ({"raw_code": "select 2 as id"}, ("body",)),
        ({"config": {"materialized": "view", "enabled": True}}, ("config", "contract")),
        ({"columns": {"id": {"name": "id", "data_type": "bigint"}}}, ("contract", "columns")),
        ({"unrendered_config": {"alias": "other"}, "alias": "other"}, ("relation",)),
        ({"fqn": ["shop", "deep", "a"]}, ("fqn",)),
    ],
)
def test_a_change_is_seen_through_the_words_of_another_version(
    fields: dict[str, Any], changes: tuple[str, ...], version: str | None
) -> None:
    found = compare(written_by(shop(), version, "1.4.0"), shop(**fields))
    assert [(one.unique_id, one.changes) for one in found.modified] == [(A, changes)]


def test_macros_that_dbt_itself_brings_along_change_nothing_and_are_counted_aloud() -> None:
    def with_macros(text: str) -> dict[str, Any]:
        names = ("macro.dbt.test_not_null", "macro.dbt_duckdb.duckdb__list", "macro.shop.own")
        macros = {name: {"unique_id": name, "macro_sql": text, "depends_on": {"macros": []}} for name in names[:2]}
        macros |= {names[2]: {"unique_id": names[2], "macro_sql": "mine", "depends_on": {"macros": [names[0]]}}}
        return document(model("a", depends_on={"nodes": [], "macros": list(names)}), macros=macros)

    found = compare(with_macros("1"), with_macros("2"))
    assert (found.modified, found.macros) == ((), ())
    assert "2 macros of dbt itself or of its adapter differ" in found.notes[0]


def test_metrics_of_before_and_after_their_new_definition_are_not_compared_and_this_is_said() -> None:
    def metric(dbt: str, **fields: Any) -> dict[str, Any]:
        entry = {"unique_id": "metric.shop.m", "resource_type": "metric", "name": "m", "description": "d", **fields}
        found = document(entry)
        found["metadata"]["dbt_version"] = dbt
        return found

    before = metric("1.5.1", calculation_method="sum", expression="x")
    found = compare(before, metric("1.6.0", type="simple", type_params={"measure": {"name": "x"}}))
    assert found.modified == ()
    assert any("how metrics are defined" in note for note in found.notes)
    (changed,) = compare(before, metric("1.5.2", calculation_method="max", expression="x")).modified
    assert changed.changes == ("body",)


def corpus_files() -> list[Path]:
    return sorted(Path(CORPUS or "/nowhere").glob("manifests/*.json"))


@needs_corpus
@pytest.mark.parametrize("path", corpus_files(), ids=lambda path: path.stem)
@pytest.mark.parametrize("change", ["stamps", "target", "body"])
def test_a_public_manifest_of_any_version_compared_with_itself(path: Path, change: str) -> None:
    before = manifest.read_file(path)
    after = artifact.load(path.read_bytes(), "manifest")
    wanted = CHANGES[change](after)
    found = diff(before, manifest.read(as_bytes(after)))
    assert [one.unique_id for one in found.modified] == wanted
    assert (found.added, found.removed) == ((), ())


def stamps(found: dict[str, Any]) -> list[str]:
    found["metadata"] |= {"generated_at": "2099-01-01", "invocation_id": "another"}
    for node in found["nodes"].values():
        node |= {"created_at": 5.5, "compiled_path": "elsewhere", "root_path": "/elsewhere", "build_path": None}
    return []


def target(found: dict[str, Any]) -> list[str]:
    """Everything that has a place of the target stands elsewhere, compiled code included."""
    for node in found["nodes"].values():
        old = node.get("relation_name")
        node |= {"database": "elsewhere", "schema": f"dev_{node.get('schema')}"}
        if old:
            node["relation_name"] = f'"elsewhere"."dev"."{node["name"]}"'
            for other in found["nodes"].values():
                for key in ("compiled_code", "compiled_sql"):
                    if isinstance(other.get(key), str):
                        other[key] = other[key].replace(old, node["relation_name"])
    return []


def body(found: dict[str, Any]) -> list[str]:
    key = next(key for key, node in found["nodes"].items() if node["resource_type"] == "model")
    word = "raw_code" if "raw_code" in found["nodes"][key] else "raw_sql"
    found["nodes"][key][word] += " -- changed"
    return [key]


CHANGES: dict[str, Callable[[dict[str, Any]], list[str]]] = {"stamps": stamps, "target": target, "body": body}
