"""Reading dbt's artifacts: any version, any oddity, one sentence for what is no artifact."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from catalog.sources import artifact, catalog_file, manifest, run_results
from catalog.sources.manifest import dataset_name, edges
from foundation.errors import BadInput
from tests.catalog.dbt_files import CORPUS, as_bytes, dbt, document, model, needs_corpus, project, source


def read(*entries: dict[str, Any], **fields: Any) -> manifest.Manifest:
    return manifest.read(as_bytes(document(*entries, **fields)))


EXPOSURE = {
    "unique_id": "exposure.shop.board", "resource_type": "exposure", "name": "board", "type": "dashboard",
    "owner": {"name": None, "email": None}, "depends_on": {"nodes": ["model.shop.b"]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "the manifest is empty"),
        (b"not json", "the manifest is not JSON (line 1, column 1)"),
        (b'{"nodes": {"a', "the manifest is truncated: it ends in the middle of its JSON"),
        (b"[1]", "the manifest is not a JSON object but a list"),
        (b'{"metadata": {}}', "the manifest has no nodes"),
        (b'{"nodes": []}', "the nodes of the manifest are not an object by unique id"),
        (b'{"results": []}', "this is a dbt run results file, not a manifest"),
        (
            b'{"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/run-results/v6.json"}}',
            "this is a dbt run results file, not a manifest",
        ),
        (b'{\n<<<<<<< HEAD\n"nodes": {}\n=======\n', "the manifest holds unresolved merge conflict markers"),
        ('{"nodes": {}}'.encode("utf-16"), "the manifest is not UTF-8 text (byte 0)"),
        (b"[" * 100_000, "the manifest is not JSON"),
        (b"[" * 100_000 + b"]" * 100_000, "the manifest is not JSON"),
    ],
)
def test_what_is_no_manifest_is_refused_in_one_sentence(data: bytes, sentence: str) -> None:
    with pytest.raises(BadInput, match=r"\S") as refusal:
        manifest.read(data)
    assert str(refusal.value) == sentence


def test_every_truncation_is_called_truncated() -> None:
    data = as_bytes(document(model("a"), source("raw")))
    for end in range(1, len(data), 3):
        with pytest.raises(BadInput, match="truncated"):
            manifest.read(data[:end])


def test_a_file_over_the_limit_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifact, "MAX_BYTES", 1024 * 1024)
    (tmp_path / "m.json").write_bytes(b"{" + b" " * 1024 * 1024)
    with pytest.raises(BadInput, match="has 1 MB or more and was not read"):
        manifest.read_file(tmp_path / "m.json")
    with pytest.raises(BadInput, match="cannot be read"):
        manifest.read_file(tmp_path / "missing.json")


@pytest.mark.parametrize("version", [None, "v1", "v4", "v12", "v20"])
def test_every_known_version_and_none_is_read(version: str | None) -> None:
    old = {
        key: value for key, value in model("a").items() if key not in ("raw_code", "relation_name", "unrendered_config")
    }
    found = read({**old, "raw_sql": "select 2", "compiled_sql": "select 2"}, version=version)
    assert found.schema_version == version
    assert (found.nodes["model.shop.a"].raw_code, found.nodes["model.shop.a"].compiled_code) == ("select 2", "select 2")


def test_edges_come_from_depends_on_when_child_map_is_empty_and_from_the_maps_when_depends_on_is() -> None:
    by_node = read(source("raw"), model("a", "x", "source.shop.app.raw"), child_map={}, parent_map={})
    bare = {**model("a"), "depends_on": {}}
    by_parents = read(source("raw"), bare, parent_map={"model.shop.a": ["source.shop.app.raw"]})
    by_children = read(source("raw"), bare, child_map={"source.shop.app.raw": ["model.shop.a"]})
    fusion = read(
        source("raw"), {**bare, "depends_on": {"nodes_with_ref_location": [["source.shop.app.raw", {"line": 1}]]}}
    )
    assert edges(by_node) == edges(by_parents) == edges(by_children) == edges(fusion)
    assert edges(by_node) == {("source.shop.app.raw", "model.shop.a")}


def test_an_ephemeral_model_is_shown_and_does_not_cut_lineage() -> None:
    found = read(
        model("a"),
        model("e", "x", "model.shop.a", config={"materialized": "ephemeral"}),
        model("b", "x", "model.shop.e"),
    )
    a, e, b = "model.shop.a", "model.shop.e", "model.shop.b"
    assert edges(found) == {(a, e), (e, b), (a, b)}
    assert dataset_name(found.nodes[e], "duckdb", "n").name == e


def test_lineage_passes_through_semantic_models_and_metrics_to_the_exposure() -> None:
    semantic = {
        "unique_id": "semantic_model.shop.s",
        "resource_type": "semantic_model",
        "name": "s",
        "depends_on": {"nodes": ["model.shop.b"]},
    }
    metric = {
        "unique_id": "metric.shop.m",
        "resource_type": "metric",
        "name": "m",
        "depends_on": {"nodes": ["semantic_model.shop.s"]},
    }
    found = read(model("b"), semantic, metric, {**EXPOSURE, "depends_on": {"nodes": ["metric.shop.m"]}})
    assert edges(found) == {("model.shop.b", "exposure.shop.board")}
    assert set(found.others) == {"semantic_model.shop.s", "metric.shop.m"}


def test_an_exposure_has_the_catalogs_kind_and_may_have_no_owner() -> None:
    found = read(model("b"), EXPOSURE)
    assert (found.nodes["exposure.shop.board"].kind, found.nodes["exposure.shop.board"].owner) == ("dashboard", None)
    named = read(model("b"), {**EXPOSURE, "type": "ml", "owner": {"name": None, "email": ["x@y.z"]}})
    assert named.nodes["exposure.shop.board"].kind == "ml_model"
    assert named.nodes["exposure.shop.board"].owner == manifest.Owner("", "x@y.z")


def test_a_dependency_outside_the_file_is_kept_as_external_with_a_warning() -> None:
    found = read(model("a", "x", "model.other.z"))
    assert found.nodes["model.other.z"].external
    assert [(warning.node, warning.reason) for warning in found.warnings] == [
        ("model.shop.a", "depends on model.other.z, which the manifest does not describe")
    ]


def test_a_disabled_node_is_no_asset_whichever_way_the_version_writes_it() -> None:
    off = {"unique_id": "model.shop.off", "resource_type": "model", "config": {"enabled": False}}
    for disabled in ({"model.shop.off": [off]}, [off]):
        found = read(model("a"), disabled=disabled)
        assert set(found.disabled) == {"model.shop.off"}
        assert set(found.nodes) == {"model.shop.a"}


def test_a_strange_node_is_left_out_with_a_warning_and_the_rest_is_read() -> None:
    raw = document(model("a"), model("b"))
    raw["nodes"]["model.shop.a"] = None
    raw["nodes"]["model.shop.b"] |= {
        "columns": {"x": None},
        "tags": None,
        "meta": None,
        "config": None,
        "fqn": 7,
        "owner": 3,
    }
    found = manifest.read(as_bytes(raw))
    assert set(found.nodes) == {"model.shop.b"}
    assert {warning.node for warning in found.warnings} == {"model.shop.a", "model.shop.b"}


def test_text_that_no_database_takes_is_replaced() -> None:
    found = read(model("a", description="a\x00b\ud800c"))
    assert found.nodes["model.shop.a"].description == "a\ufffdb\ufffdc"


def test_tests_are_kept_apart_with_the_column_and_the_node_they_judge() -> None:
    base = {"resource_type": "test", "package_name": "shop", "config": {"severity": "WARN"}}
    kwargs = {"column_name": "id", "model": "{{ get_where_subquery(ref('a')) }}", "to": "ref('b')"}
    found = read(
        model("a"), model("b"),
        {**base, "unique_id": "test.shop.r", "name": "r", "test_metadata": {"name": "relationships", "kwargs": kwargs},
         "depends_on": {"nodes": ["model.shop.b", "model.shop.a"]}},
        {**base, "unique_id": "test.shop.s", "name": "one_off",
         "depends_on": {"nodes": ["model.shop.a", "model.shop.b"]}},
    )  # fmt: skip
    assert [(test.name, test.column, test.attached, test.severity, test.generic) for test in found.tests] == [
        ("relationships", "id", "model.shop.a", "warn", True),
        ("one_off", None, None, "warn", False),
    ]
    assert edges(found) == set()


@pytest.mark.parametrize(
    ("adapter", "relation", "fields", "name"),
    [
        ("duckdb", '"Shop"."Main"."A"', {"database": "Shop", "schema": "Main", "alias": "A"}, "shop.main.a"),
        ("postgres", '"Shop"."Main"."A"', {"database": "Shop", "schema": "Main", "alias": "A"}, "Shop.Main.A"),
        ("postgres", "Shop.Main.A", {"database": "Shop", "schema": "Main", "alias": "A"}, "shop.main.a"),
        ("snowflake", "shop.main.a", {"alias": "a"}, "SHOP.MAIN.A"),
        ("snowflake", 'shop.main."a"', {"alias": "a"}, "SHOP.MAIN.a"),
        ("bigquery", "`Shop`.`Main`.`A`", {"database": "Shop", "schema": "Main", "alias": "A"}, "Shop.Main.A"),
        ("spark", "main.a", {"database": None}, "main.a"),
        ("oracle", "main.a", {"database": "None"}, "MAIN.A"),
        ("unheard_of", None, {"alias": "aB.c"}, "shop.main.aB.c"),
    ],
)
def test_names_follow_the_naming_specification_and_the_adapters_case_rules(
    adapter: str, relation: str | None, fields: dict[str, Any], name: str
) -> None:
    metadata = {"adapter_type": adapter}
    found = read(model("a", relation_name=relation, **fields), metadata=metadata)
    assert dataset_name(found.nodes["model.shop.a"], adapter, "ns") == ("ns", name)


def test_versioned_models_and_one_name_in_two_packages_stay_apart() -> None:
    versioned = {**model("a", alias="a_v2"), "unique_id": "model.shop.a.v2", "version": 2}
    other = {**model("a", schema="other"), "unique_id": "model.pkg.a", "package_name": "pkg"}
    found = read(model("a"), versioned, other)
    assert {dataset_name(node, "duckdb", "n").name for node in found.nodes.values()} == {
        "shop.main.a", "shop.main.a_v2", "shop.other.a",
    }  # fmt: skip
    assert found.nodes["model.shop.a.v2"].version == "2"


def test_a_thousand_damaged_manifests_give_a_manifest_or_one_refusal() -> None:
    chance = random.Random(7)  # noqa: S311
    whole = document(source("raw"), model("a", "x", "source.shop.app.raw"), model("b", "x", "model.shop.a"), EXPOSURE)
    refusals: set[str] = set()
    odd: list[Any] = [None, 0, -1, 1.5, "", "x" * 9999, [], {}, [None], {"": None}, True, [[]], "model.shop.b"]

    def damage(value: Any) -> None:
        keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = chance.choice(keys)
        if isinstance(value[key], dict | list) and value[key] and chance.random() < 0.8:
            damage(value[key])
        elif isinstance(value, dict) and chance.random() < 0.4:
            del value[key]
        else:
            value[key] = copy.deepcopy(chance.choice(odd))

    for _ in range(1000):
        damaged = copy.deepcopy(whole)
        for _ in range(chance.randint(1, 4)):
            damage(damaged)
        try:
            edges(manifest.read(as_bytes(damaged)))
        except BadInput as refusal:
            refusals.add(str(refusal))
    assert all(sentence and "\n" not in sentence for sentence in refusals)


def test_run_results_tell_what_each_node_did() -> None:
    timing = [
        {"name": "compile"},
        {"name": "execute", "started_at": "2026-01-01T00:00:00Z", "completed_at": "2026-01-01T00:00:02Z"},
    ]
    data = {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/run-results/v6.json", "invocation_id": "i"},
        "results": [
            {
                "unique_id": "model.shop.a",
                "status": "Success",
                "adapter_response": {"rows_affected": 12},
                "timing": timing,
                "execution_time": 2.5,
            },
            {"unique_id": "test.shop.t", "status": "pass", "failures": 0, "message": None, "adapter_response": {}},
            {"status": "pass"},
        ],
    }
    found = run_results.read(as_bytes(data))
    assert (found.results["model.shop.a"].rows_affected, found.results["model.shop.a"].status) == (12, "success")
    assert found.results["model.shop.a"].completed_at == "2026-01-01T00:00:02Z"
    assert found.results["model.shop.a"].execution_time == "2.5"
    assert (found.results["test.shop.t"].failures, found.results["test.shop.t"].rows_affected) == (0, None)
    assert len(found.warnings) == 1
    with pytest.raises(BadInput, match="this is a dbt manifest file, not a run results"):
        run_results.read(as_bytes(document()))


def test_the_catalog_tells_the_columns_in_the_warehouses_order() -> None:
    columns = {
        "B": {"index": 2, "name": "B", "type": "INTEGER"},
        "A": {"index": 1, "name": "A", "type": "BOOLEAN", "comment": "c"},
    }
    found = catalog_file.read(
        as_bytes({"nodes": {"model.shop.a": {"metadata": {"type": "VIEW"}, "columns": columns, "stats": {}}}})
    )
    assert [(column.name, column.data_type) for column in found.tables["model.shop.a"].columns] == [
        ("A", "BOOLEAN"),
        ("B", "INTEGER"),
    ]
    with pytest.raises(BadInput, match="this is a dbt catalog file, not a manifest"):
        manifest.read(as_bytes({"nodes": {"model.shop.a": {"metadata": {}, "columns": {}, "stats": {}}}}))


@needs_corpus
def test_every_public_manifest_is_read_with_all_its_nodes_and_edges() -> None:
    paths = [
        *Path(CORPUS).glob("manifests/*.json"),
        *Path(CORPUS).glob("pairs/*/[bh]e[ad][de].json"),
        *Path(CORPUS).glob("pairs/*/base.json"),
    ]
    assert paths
    for path in paths:
        raw = json.loads(path.read_bytes())
        found = manifest.read(path.read_bytes())
        read_ids = {*found.nodes, *found.others, *(test.unique_id for test in found.tests)}
        assert set(raw["nodes"]) | set(raw["sources"]) | set(raw["exposures"]) <= read_ids
        assert all(
            node.schema and node.identifier
            for node in found.nodes.values()
            if node.kind == "model" and not node.external
        )
        wanted = {(parent, child) for child, parents in raw["parent_map"].items() for parent in parents}
        assert {pair for pair in wanted if pair[0] in found.nodes and pair[1] in found.nodes} <= edges(found)


@pytest.mark.dbt
def test_what_real_dbt_writes_has_dbts_own_lineage(tmp_path: Path) -> None:
    folder = project(tmp_path, {
        "models/a.sql": "select 1 as id, true as flag",
        "models/e.sql": "{{ config(materialized='ephemeral') }} select * from {{ ref('a') }}",
        "models/b.sql": "select * from {{ ref('e') }} where not flag",
        "models/schema.yml": (
            "models:\n  - name: b\n    columns: [{name: id, data_tests: [not_null]}]\n"
            "exposures:\n  - {name: board, type: dashboard, owner: {email: x@y.z}, depends_on: [ref('b')]}\n"
        ),
    })  # fmt: skip
    dbt(folder, "compile", "--quiet")
    found = manifest.read_file(folder / "target/manifest.json")
    listed = dbt(
        folder,
        "ls",
        "--quiet",
        "--select",
        "a+",
        "--exclude-resource-type",
        "test",
        "--output",
        "json",
        "--output-keys",
        "unique_id",
    )
    assert not found.warnings
    assert {json.loads(line)["unique_id"] for line in listed.splitlines()} == set(found.nodes)
    assert ("model.shop.a", "model.shop.b") in edges(found)
    assert "where not flag" in (found.nodes["model.shop.b"].compiled_code or "")
    assert [(test.name, test.column, test.attached) for test in found.tests] == [("not_null", "id", "model.shop.b")]
    assert dataset_name(found.nodes["model.shop.b"], found.adapter, "n").name == "shop.main.b"
    assert set(run_results.read((folder / "target/run_results.json").read_bytes()).results) >= {"model.shop.b"}
