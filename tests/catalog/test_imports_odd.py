"""Odd artifacts of the world, each imported: what is kept of it, and what is said about the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from catalog.graph.adjacency import adjacency
from catalog.models import Asset, Consumer, EdgeClaim, GraphVersion, NodeClaim
from catalog.selectors import ancestors, asset_of_node, columns, dbt_node, find_asset, relation
from catalog.services.imports import ImportReport, import_manifest
from foundation.audit import Actor
from foundation.errors import BadInput
from tests.catalog.manifests import catalog_file, exposure, manifest, model, shop, source

Document = dict[str, Any]
ORDERS, STAGED, REVENUE = "model.shop.orders", "model.shop.stg_orders", "model.shop.revenue"


def load(data: bytes | Document, actor: Actor, **more: Any) -> ImportReport:
    raw = data if isinstance(data, bytes) else orjson.dumps(data)
    return import_manifest(raw, namespace=more.pop("namespace", "duckdb://house"), actor=actor, **more)


def changed(*steps: Callable[[Document], object], data: bytes | None = None) -> Document:
    document: Document = orjson.loads(data or shop())
    for step in steps:
        step(document)
    return document


def pairs() -> set[tuple[str, str]]:
    edges = EdgeClaim.objects.filter(removed_in__isnull=True)
    return set(edges.values_list("from_asset__name", "to_asset__name"))


def set_metadata(**fields: Any) -> Callable[[Document], object]:
    return lambda document: document["metadata"].update(fields)


def set_node(unique_id: str, **fields: Any) -> Callable[[Document], object]:
    return lambda document: document["nodes"][unique_id].update(fields)


def drop(*names: str) -> Callable[[Document], object]:
    return lambda document: [document.pop(name, None) for name in names]


def drop_of(unique_id: str, *names: str) -> Callable[[Document], object]:
    return lambda document: [document["nodes"][unique_id].pop(name, None) for name in names]


WHOLE = {
    ("dev.raw.orders", "dev.main.stg_orders"),
    ("dev.main.stg_orders", "dev.main.orders"),
    ("dev.main.orders", "dev.main.revenue"),
    ("dev.main.revenue", "exposure.shop.weekly_board"),
}
SCHEMA = "https://schemas.getdbt.com/dbt/manifest/{}.json"
FUSION = [{"name": "orders", "package": None, "version": None, "location": {"line": 1}}]


@pytest.mark.parametrize("version", [*range(1, 13), 20])
def test_every_version_of_the_manifest_gives_the_same_graph(version: int, machine: Actor) -> None:
    report = load(changed(set_metadata(dbt_schema_version=SCHEMA.format(f"v{version}"))), machine)
    assert (pairs(), report.warnings) == (WHOLE, ())


@pytest.mark.parametrize("version", ["v13", "v99", "v0"])
def test_a_version_that_nobody_knows_yet_is_read_with_a_warning(version: str, machine: Actor) -> None:
    report = load(changed(set_metadata(dbt_schema_version=SCHEMA.format(version))), machine)
    assert pairs() == WHOLE
    assert [(one.node, version in one.reason) for one in report.warnings] == [("", True)]


def fusion(child_map: object) -> Callable[[Document], object]:
    """What Fusion writes: references with their places, and maps that are empty or hold a part."""

    def change(document: Document) -> None:
        document["metadata"]["dbt_schema_version"] = SCHEMA.format("v20")
        document["child_map"], document["parent_map"] = child_map, {}
        for node in document["nodes"].values():
            above = node["depends_on"].pop("nodes")
            node["depends_on"]["nodes_with_ref_location"] = [[one, {"line": 3, "col": 9}] for one in above]

    return change


STEPS: dict[str, list[Callable[[Document], object]]] = {
    "no version": [set_metadata(dbt_schema_version=None)],
    "no metadata but the adapter": [lambda d: d.update(metadata={"adapter_type": "duckdb"})],
    "fusion, empty child_map": [fusion({})],
    "fusion, partial child_map": [fusion({STAGED: [ORDERS]})],
    "fusion, no child_map": [fusion(None)],
    "v12 of fusion, partial child_map": [lambda d: d.update(child_map={STAGED: [ORDERS]}, parent_map=None)],
    "raw_sql": [drop_of(ORDERS, "raw_code"), set_node(ORDERS, raw_sql="select 1")],
    "only a child_map": [
        *(drop_of(one, "depends_on") for one in (STAGED, ORDERS, REVENUE)),
        lambda d: d.update(child_map={"source.shop.raw.orders": [STAGED], STAGED: [ORDERS], ORDERS: [REVENUE]}),
    ],
    "only a parent_map": [
        *(drop_of(one, "depends_on") for one in (STAGED, ORDERS, REVENUE)),
        lambda d: d.update(parent_map={STAGED: ["source.shop.raw.orders"], ORDERS: [STAGED], REVENUE: [ORDERS]}),
    ],
    "meta, tags, columns, owner are null": [
        set_node(ORDERS, meta=None, tags=None, columns=None, owner=None, docs=None, fqn=None, patch_path=None)
    ],
    "checksum, config, description are null": [set_node(ORDERS, checksum=None, config=None, description=None)],
    "no empty collections": [drop("macros", "docs", "metrics", "disabled", "groups", "selectors", "child_map")],
    "collections are null": [lambda d: d.update(macros=None, metrics=None, disabled=None, groups=None, docs=None)],
    "unknown collections and fields": [lambda d: d.update(novelties={"a": 1}), set_node(ORDERS, novelty={"x": [1]})],
    "an unknown language": [set_node(ORDERS, language="javascript")],
    "constraints with foreign keys": [
        set_node(ORDERS, constraints=[{"type": "foreign_key", "to": "ref('x')", "to_columns": ["id"]}])
    ],
    "a macro with config": [lambda d: d.update(macros={"macro.shop.m": {"macro_sql": "x", "config": {"meta": {}}}})],
    "unit tests, functions, groups, semantic models": [
        lambda d: d.update(
            unit_tests={"unit_test.shop.t": {"resource_type": "unit_test", "depends_on": {"nodes": [ORDERS]}}},
            functions={"function.shop.f": {"resource_type": "function", "depends_on": {"nodes": []}}},
            groups={"group.shop.g": {"name": "g", "owner": {"name": None, "email": None}}},
            semantic_models={"semantic_model.shop.s": {"name": "s", "depends_on": {"nodes": [ORDERS]}}},
            saved_queries={"saved_query.shop.q": {"name": "q", "depends_on": {"nodes": ["metric.shop.m"]}}},
            metrics={"metric.shop.m": {"name": "m", "depends_on": {"nodes": ["semantic_model.shop.s"]}}},
        )
    ],
    "tests without results": [
        lambda d: d["nodes"].update({
            "test.shop.t": {"resource_type": "test", "depends_on": {"nodes": [ORDERS]}, "config": {}},
        })
    ],
    "an operation without config": [
        lambda d: d["nodes"].update({"operation.shop.o": {"resource_type": "operation", "depends_on": None}})
    ],
    "a disabled model": [
        lambda d: d.update(disabled={"model.shop.off": [{"resource_type": "model", "config": {"enabled": False}}]})
    ],
    "disabled written as a list": [lambda d: d.update(disabled=[{"unique_id": "model.shop.off"}])],
    "a model that says that it is disabled": [
        lambda d: d["nodes"].update({"model.shop.off": {"resource_type": "model", "config": {"enabled": False}}})
    ],
    "an exposure of null owner fields, label and url": [
        lambda d: d["exposures"]["exposure.shop.weekly_board"].update(label=None, url=None, owner=None, maturity=None)
    ],
    "numbers that no 64 bits hold": [set_node(ORDERS, created_at=10**30, version=None)],
    "a byte order mark and blanks": [],
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_what_writers_of_the_world_leave_out_or_add_changes_no_edge(name: str, machine: Actor) -> None:
    document = changed(*STEPS[name])
    raw = orjson.dumps(document) if name != "numbers that no 64 bits hold" else _big(document)
    data = b"\xef\xbb\xbf \n" + raw if name == "a byte order mark and blanks" else raw
    report = load(data, machine, project="shop")
    assert (pairs(), report.warnings) == (WHOLE, ())
    again = load(data, machine, project="shop")
    assert (again.graph_version, again.added, again.changed, again.removed) == (1, 0, 0, 0)


def _big(document: Document) -> bytes:
    del document["nodes"][ORDERS]["created_at"]
    return orjson.dumps(document).replace(
        b'"name":"orders","alias"', b'"created_at":' + b"9" * 40 + b',"name":"orders","alias"'
    )


@pytest.mark.parametrize("database", ["None", None, "", "null"])
def test_a_database_that_is_none_is_no_part_of_the_name(database: str | None, machine: Actor) -> None:
    load(manifest([model("a", database=database, relation_name="main.a")], adapter="spark"), machine)
    found = relation(find_asset("main.a"))
    assert found is not None
    assert (find_asset("main.a").name, found.database, found.schema) == ("main.a", None, "main")


@pytest.mark.parametrize("kind", ["snapshot", "seed"])
def test_snapshots_and_seeds_are_in_the_middle_of_lineage(kind: str, machine: Actor) -> None:
    middle = model("middle", *(["model.shop.a"] if kind == "snapshot" else []), kind=kind)
    load(manifest([model("a"), middle, model("b", f"{kind}.shop.middle")]), machine)
    assert find_asset("main.middle").kind == kind
    assert next(asset.name for asset, _ in ancestors(find_asset("main.b"))) == "dev.main.middle"


def test_versions_of_a_model_are_tables_of_their_own(machine: Actor) -> None:
    fields = [{"name": "orders", "alias": f"orders_v{number}", "version": number} for number in (1, 2)]
    nodes = [(key, {**node, **more}) for more in fields for key, node in [model(f"orders.v{more['version']}")]]
    report = load(manifest([*nodes, model("b", "model.shop.orders.v2")]), machine)
    assert [asset.name for asset, _ in ancestors(find_asset("main.b"))] == ["dev.main.orders_v2"]
    assert (report.assets, report.warnings) == (3, ())


def test_names_with_dots_and_spaces_are_names(machine: Actor) -> None:
    load(manifest([model("my.orders", relation_name='"dev"."main"."my.orders"'), model("two words")]), machine)
    assert {"dev.main.my.orders", "dev.main.two words"} <= set(Asset.objects.values_list("name", flat=True))


def test_one_model_name_in_two_packages_is_two_tables(machine: Actor) -> None:
    ours = model("orders")
    theirs = model("orders", package="lib", schema="lib", relation_name='"dev"."lib"."orders"')
    load(manifest([ours, theirs, model("b", "model.lib.orders")]), machine)
    assert [asset.name for asset, _ in ancestors(find_asset("main.b"))] == ["dev.lib.orders"]
    assert asset_of_node("model.shop.orders") != asset_of_node("model.lib.orders")


def test_two_nodes_that_write_one_table_are_one_asset_and_that_is_said(machine: Actor) -> None:
    report = load(manifest([model("a", alias="t"), model("b", alias="t")]), machine)
    assert Asset.objects.filter(name="dev.main.t").count() == 1
    assert [warning.node for warning in report.warnings] == ["model.shop.b"]
    again = load(manifest([model("a", alias="t"), model("b", alias="t")]), machine)
    assert [warning.node for warning in again.warnings] == ["model.shop.b"]


def test_chains_of_ephemeral_models_are_shown_and_spliced(machine: Actor) -> None:
    load(manifest([
        model("a"), model("e1", "model.shop.a", config={"materialized": "ephemeral"}),
        model("e2", "model.shop.e1", config={"materialized": "ephemeral"}), model("b", "model.shop.e2"),
    ]), machine)  # fmt: skip
    assert {asset.name: hops for asset, hops in ancestors(find_asset("main.b"))} == {
        "dev.main.a": 1, "model.shop.e2": 1, "model.shop.e1": 2,
    }  # fmt: skip


def test_a_cycle_in_the_file_is_kept_and_ends_every_walk(machine: Actor) -> None:
    load(manifest([model("a", "model.shop.b"), model("b", "model.shop.a"), model("c", "model.shop.c")]), machine)
    assert pairs() == {("dev.main.a", "dev.main.b"), ("dev.main.b", "dev.main.a")}
    a, b = find_asset("main.a").pk, find_asset("main.b").pk
    assert adjacency().walk(a, "down").ids.tolist() == [b]


def test_a_dependency_outside_the_file_is_external_and_unknown(machine: Actor) -> None:
    report = load(manifest([model("b", "model.other.orders", "source.other.raw.x")]), machine)
    node = dbt_node(find_asset("model.other.orders"))
    assert node is not None
    assert (node.attributes["external"], node.asset.kind) == (True, "model")
    assert {warning.node for warning in report.warnings} == {"model.shop.b"}


def test_a_project_may_read_a_model_of_another_project_that_the_file_describes(machine: Actor) -> None:
    load(manifest([model("orders", package="core")], project="core"), machine)
    stub = model("orders", package="core", raw_code="", checksum={"name": "none", "checksum": ""})
    load(manifest([stub, model("b", "model.core.orders")]), machine)
    assert find_asset("main.orders").claims.filter(removed_in__isnull=True).count() == 2
    assert [asset.name for asset, _ in ancestors(find_asset("main.b"))] == ["dev.main.orders"]


def test_a_node_that_the_catalog_does_not_have_keeps_its_declared_columns_with_a_warning(machine: Actor) -> None:
    declared = {"id": {"name": "id", "data_type": "int"}}
    data = manifest([model("a", columns=declared), model("b", columns=declared)])
    report = load(data, machine, catalog=catalog_file(("model.shop.a", {"ID": "BIGINT", "n": "TEXT"})))
    assert [column.name for column in columns(find_asset("main.a"))] == ["ID", "n"]
    assert [(column.name, column.type) for column in columns(find_asset("main.b"))] == [("id", "int")]
    assert [warning.node for warning in report.warnings] == ["model.shop.b"]


def test_one_strange_node_does_not_lose_the_others(machine: Actor) -> None:
    document = changed(lambda d: d["nodes"].update({"model.shop.odd": [1, 2], "": {}, "model.shop.none": None}))
    report = load(document, machine)
    assert pairs() == WHOLE
    assert {warning.node for warning in report.warnings} == {"model.shop.odd", "", "model.shop.none"}


def test_names_that_are_longer_than_an_index_takes_are_left_out(machine: Actor) -> None:
    wide = "\U0001f4a5" * 480
    nodes = [model("a"), model(wide, relation_name=None), model("z" * 501), model("b", f"model.shop.{wide}")]
    report = load(manifest(nodes), machine, namespace="\U0001f4a5" * 250)
    assert report.assets == 2
    assert sorted(len(warning.node) for warning in report.warnings) == [491, 500]


@pytest.mark.parametrize(
    "text", ["a\x00b", "\ud800", "\u202eabc", "<script>", "x" * 100_000], ids=["nul", "half", "bidi", "html", "long"]
)
def test_text_of_any_kind_is_kept_as_far_as_a_database_can(text: str, machine: Actor) -> None:
    column = {"c": {"name": "c", "description": text, "data_type": text}}
    document = changed(set_node(ORDERS, description=text, columns=column, tags=[text], meta={"x": text}))
    report = load(_escaped(document), machine)
    assert report.assets == 5
    kept = text.replace("\x00", "\ufffd").replace("\ud800", "\ufffd")
    assert find_asset("main.orders").description == kept
    assert columns(find_asset("main.orders"))[0].type == kept[:200]
    assert load(_escaped(document), machine).graph_version == 1


def _escaped(document: Document) -> bytes:
    import json  # noqa: PLC0415 -- orjson writes no half surrogates

    return json.dumps(document).encode()


REFUSED = {
    "truncated": (shop()[:-40], "truncated"),
    "truncated in a letter": ('{"nodes": {"é'.encode()[:-1], "truncated"),
    "conflict markers": (shop().replace(b'"nodes"', b'\n<<<<<<< HEAD\n"nodes"', 1), "conflict markers"),
    "UTF-16": (shop().decode().encode("utf-16"), "not UTF-8"),
    "Latin-1": (shop().replace(b"weekly_board", "weekly_b\u00f6ard".encode("latin-1")), "not UTF-8"),
    "empty": (b" \n", "empty"),
    "HTML": (b"<html>404</html>", "not JSON"),
    "a list": (b"[]", "not a JSON object but a list"),
    "a catalog": (catalog_file(("model.shop.a", {"id": "int"})), "a dbt catalog file"),
    "no nodes": (b'{"metadata": {"project_name": "shop"}}', "has no nodes"),
    "nodes in a list": (b'{"metadata": {"project_name": "shop"}, "nodes": []}', "not an object"),
    "500 MB": (b" " * 500_000_000, "500 MB or more"),
    "no project": (manifest([], project=None), "does not name its project"),
    "a project of 181 letters": (manifest([], project="p" * 181), "at most 180 printable"),
    "nested without end": (b'{"nodes": ' + b"[" * 200_000, "not JSON|truncated"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used_is_refused_in_one_sentence_and_nothing_is_written(name: str, machine: Actor) -> None:
    load(shop(), machine)
    before = rows()
    data, why = REFUSED[name]
    with pytest.raises(BadInput, match=why) as refusal:
        load(data, machine)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 300
    assert rows() == before


def rows() -> list[int]:
    return [model._default_manager.count() for model in (Asset, NodeClaim, EdgeClaim, GraphVersion, Consumer)]


def test_an_emptied_project_leaves_the_graph_and_that_is_said(machine: Actor) -> None:
    load(shop(), machine)
    report = load(manifest([]), machine)
    assert (report.removed, report.assets, pairs()) == (5, 0, set())
    assert "describes nothing any more" in report.warnings[-1].reason


def test_readers_of_unknown_kind_are_reports(machine: Actor) -> None:
    load(
        manifest([model("a")], exposures=[exposure("board", "model.shop.a", type="hologram", label="The Board")]),
        machine,
    )
    assert find_asset("board").kind == "report"


def test_a_source_without_a_name_for_its_table_takes_its_own(machine: Actor) -> None:
    unique_id, raw = source("orders")
    load(manifest([model("a", unique_id)], sources=[(unique_id, {**raw, "identifier": None})]), machine)
    assert pairs() == {("dev.raw.orders", "dev.main.a")}
