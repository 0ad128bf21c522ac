"""A manifest becomes claims: versions, intervals, columns, and refusals that leave nothing behind."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import orjson
import pytest
from django.db import IntegrityError, connection, transaction

from catalog.models import Asset, ColumnList, Consumer, EdgeClaim, GraphHead, GraphVersion, NodeClaim, Source
from catalog.selectors import ancestors, asset_of_node, columns, dbt_node, find_asset, relation
from catalog.services.imports import ImportReport, import_manifest
from foundation.audit import Actor
from foundation.errors import BadInput, Conflict, NotAllowed
from foundation.models import AuditRow, Person
from foundation.people import create_agent, system
from tests.catalog.dbt_files import CORPUS, needs_corpus
from tests.catalog.manifests import catalog_file, exposure, manifest, model, run_results, shop, source

TABLES = (Asset, ColumnList, Consumer, EdgeClaim, GraphHead, GraphVersion, NodeClaim, Source, AuditRow)


def load(data: bytes, actor: Actor, **more: Any) -> ImportReport:
    return import_manifest(data, namespace=more.pop("namespace", "duckdb://house"), actor=actor, **more)


def counts() -> list[int]:
    return [table._default_manager.count() for table in TABLES]


def present(name: str) -> bool:
    return Asset.objects.present().filter(name=name).exists()


def names(pairs: list[tuple[Asset, int]]) -> dict[str, int]:
    return {asset.name: hops for asset, hops in pairs}


def test_first_import_makes_version_one(machine: Actor) -> None:
    report = load(shop(), machine)
    assert report.as_dict() == {
        "graph_version": 1, "assets": 5, "edges": 4, "added": 5, "changed": 0, "removed": 0, "warnings": [],
    }  # fmt: skip
    assert GraphHead.objects.get().version == 1
    assert Asset.objects.get(name="dev.main.orders").kind == "model"
    assert AuditRow.objects.filter(action="graph.imported").count() == 1


def test_the_same_code_again_makes_no_version(machine: Actor) -> None:
    load(shop(), machine)
    before = counts()
    again = load(shop(stamp="two"), machine)
    assert (again.graph_version, again.added, again.changed, again.removed) == (1, 0, 0, 0)
    assert counts() == before


def test_a_removed_model_closes_only_its_own_claims(machine: Actor) -> None:
    load(shop(model("extra", "model.shop.orders")), machine)
    report = load(shop(), machine)
    assert (report.graph_version, report.added, report.changed, report.removed) == (2, 0, 0, 1)
    closed = NodeClaim.objects.get(local_id="model.shop.extra")
    assert (closed.added_in_id, closed.removed_in_id) == (1, 2)
    assert EdgeClaim.objects.get(to_asset=closed.asset).removed_in_id == 2
    assert NodeClaim.objects.filter(removed_in__isnull=False).count() == 1
    assert Asset.objects.filter(name="dev.main.extra").exists()
    assert not Asset.objects.present().filter(name="dev.main.extra").exists()


def test_a_removed_reference_takes_its_edge_along(machine: Actor) -> None:
    load(manifest([model("a"), model("b", "model.shop.a")]), machine)
    load(manifest([model("a"), model("b")]), machine)
    assert ancestors(find_asset("main.b")) == []


def test_a_changed_model_is_closed_and_opened(machine: Actor) -> None:
    load(shop(), machine)
    changed = model("orders", "model.shop.stg_orders", checksum={"name": "sha256", "checksum": "new"})
    report = load(shop(changed), machine)
    assert (report.added, report.changed, report.removed) == (0, 1, 0)
    claims = NodeClaim.objects.filter(local_id="model.shop.orders").order_by("added_in_id")
    assert [(claim.added_in_id, claim.removed_in_id) for claim in claims] == [(1, 2), (2, None)]


def test_two_projects_do_not_close_each_others_claims(machine: Actor) -> None:
    load(shop(), machine)
    load(manifest([model("b", "model.shop.orders", package="other")], project="other"), machine)
    load(shop(), machine)
    assert asset_of_node("model.other.b") is not None
    assert names(ancestors(find_asset("main.b"))) == {
        "dev.main.orders": 1, "dev.main.stg_orders": 2, "dev.raw.orders": 3,
    }  # fmt: skip


@pytest.mark.parametrize(("adapter", "database", "known"), [("postgres", "dev", "duckdb"), ("duckdb", "prod", "dev")])
def test_a_guessed_project_never_replaces_one_of_another_warehouse(
    adapter: str, database: str, known: str, machine: Actor
) -> None:
    load(manifest([model("orders")], project=None), machine)
    other = manifest([model("bills", database=database)], project=None, adapter=adapter)
    with pytest.raises(Conflict, match=rf"suggest shop, .* \({known}\)\. Nothing was changed; .* --project NAME\.$"):
        load(other, machine)
    assert present("dev.main.orders")
    import_manifest(other, actor=machine, project="shop two")
    assert present("dev.main.orders")
    import_manifest(other, actor=machine, project="shop")
    assert not present("dev.main.orders")


def test_a_project_that_names_itself_may_move_to_another_warehouse(machine: Actor) -> None:
    load(shop(), machine)
    assert load(manifest([model("orders", database="prod")], adapter="postgres"), machine).removed


def test_a_guessed_project_without_a_word_of_its_warehouse_is_the_known_one(machine: Actor) -> None:
    load(manifest([model("orders")], project=None), machine)
    assert load(manifest([model("bills", database=None)], project=None, adapter=""), machine).removed == 1


def test_a_source_of_one_project_is_the_model_of_another(machine: Actor) -> None:
    load(manifest([model("orders")]), machine)
    reads = source("orders", schema="main", package="other")
    load(manifest([model("b", reads[0], package="other")], sources=[reads], project="other"), machine)
    asset = find_asset("main.orders")
    assert asset.kind == "model"
    assert asset.claims.count() == 2
    node = dbt_node(asset)
    assert node is not None
    assert node.local_id == "model.shop.orders"


def test_the_model_that_comes_after_its_reader_gives_the_kind(machine: Actor) -> None:
    reads = source("orders", schema="main", package="other")
    load(manifest([model("b", reads[0], package="other")], sources=[reads], project="other"), machine)
    load(manifest([model("orders", description="One row an order")]), machine)
    asset = find_asset("main.orders")
    assert (asset.kind, asset.description) == ("model", "One row an order")


def test_an_ephemeral_model_is_shown_and_does_not_cut_lineage(machine: Actor) -> None:
    middle = model("middle", "model.shop.a", config={"materialized": "ephemeral"}, relation_name=None)
    load(manifest([model("a"), middle, model("b", "model.shop.middle")]), machine)
    assert names(ancestors(find_asset("main.b"))) == {"dev.main.a": 1, "model.shop.middle": 1}
    ephemeral = asset_of_node("model.shop.middle")
    assert ephemeral is not None
    assert relation(ephemeral) is None


def test_an_exposure_is_a_reader_without_times(machine: Actor) -> None:
    load(shop(), machine)
    board = find_asset("weekly_board")
    assert board.kind == "dashboard"
    assert (board.consumer.cron, board.consumer.approved_by) == ("", None)
    assert board.claims.get().source.key == "dbt:shop"


def test_the_relation_is_the_one_of_the_manifest(machine: Actor) -> None:
    load(shop(), machine)
    found = relation(find_asset("main.orders"))
    assert found is not None
    assert (found.database, found.schema, found.identifier) == ("dev", "main", "orders")
    assert (found.dialect, found.namespace) == ("duckdb", "duckdb://house")


def test_columns_come_from_the_catalog_and_stay_when_it_is_missing(machine: Actor) -> None:
    declared = {"id": {"name": "id", "description": "Key"}, "note": {"name": "note"}}
    data = manifest([model("orders", columns=declared)])
    load(data, machine, catalog=catalog_file(("model.shop.orders", {"ID": "BIGINT", "amount": "DECIMAL(10,2)"})))
    load(data, machine)
    found = columns(find_asset("dev.main.orders"))
    assert [(one.name, one.type, one.description) for one in found] == [
        ("ID", "BIGINT", "Key"),
        ("amount", "DECIMAL(10,2)", ""),
    ]


def test_a_declared_column_goes_with_its_declaration(machine: Actor) -> None:
    load(manifest([model("orders", columns={"a": {"name": "a"}, "b": {"name": "b"}})]), machine)
    load(manifest([model("orders", columns={"b": {"name": "b"}})]), machine)
    assert [one.name for one in columns(find_asset("orders"))] == ["b"]


def test_a_dependency_outside_the_file_is_kept_and_later_joined(machine: Actor) -> None:
    report = load(manifest([model("b", "model.shop.orders", package="other")], project="other"), machine)
    assert [warning.node for warning in report.warnings] == ["model.other.b"]
    assert names(ancestors(find_asset("main.b"))) == {"model.shop.orders": 1}
    load(manifest([model("orders")]), machine)
    load(manifest([model("b", "model.shop.orders", package="other")], project="other"), machine)
    assert names(ancestors(find_asset("main.b"))) == {"dev.main.orders": 1}


def test_a_name_that_is_too_long_is_left_out_with_a_warning(machine: Actor) -> None:
    report = load(manifest([model("a"), model("x" * 600)]), machine)
    assert report.assets == 1
    assert "too long" in report.warnings[-1].reason


def test_results_of_unknown_nodes_are_warned_of(machine: Actor) -> None:
    report = load(manifest([model("a")]), machine, run_results=run_results(("model.shop.gone", "success", 1)))
    assert [warning.node for warning in report.warnings] == ["model.shop.gone"]


def test_without_a_connection_the_namespace_is_the_projects(machine: Actor) -> None:
    import_manifest(manifest([model("a")]), actor=machine)
    assert find_asset("main.a").namespace == "duckdb://shop"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"not json", "not JSON"),
        (b"", "empty"),
        (shop()[:-40], "truncated|not JSON"),
        (b'{"metadata": {}}', "no nodes"),
        (b'{"nodes": []}', "not an object"),
        (b"[1, 2]", "list"),
        (b"\xff\xfe\x00", "UTF-8"),
        (run_results(), "not a manifest"),
        (manifest([], project=None), "name its project"),
    ],
)
def test_an_unusable_file_is_refused_in_one_sentence_and_changes_nothing(data: bytes, why: str, machine: Actor) -> None:
    before = counts()
    with pytest.raises(BadInput, match=why) as refusal:
        load(data, machine)
    assert "\n" not in str(refusal.value)
    assert counts() == before


def test_an_unusable_side_file_refuses_the_whole_import(machine: Actor) -> None:
    before = counts()
    for more in ({"catalog": b"{}"}, {"run_results": b"{}"}, {"catalog": shop()}):
        with pytest.raises(BadInput):
            load(shop(), machine, **more)
    assert counts() == before


def test_an_agent_writes_only_in_its_namespaces(owner: Person) -> None:
    agent = Actor(create_agent("loader", owner=owner, namespaces=["duckdb://mine"]), "api")
    with pytest.raises(NotAllowed):
        load(shop(), agent)
    assert load(shop(), agent, namespace="duckdb://mine").graph_version == 1


@pytest.mark.parametrize(
    "statement",
    [
        lambda: NodeClaim.objects.all()[:1].get().delete(),
        lambda: NodeClaim.objects.update(local_id="x"),
        lambda: NodeClaim.objects.update(attributes={}),
        lambda: NodeClaim.objects.filter(removed_in__isnull=False).update(removed_in=None),
        lambda: EdgeClaim.objects.update(kind="x"),
        lambda: EdgeClaim.objects.all()[:1].get().delete(),
        lambda: GraphVersion.objects.update(added=0),
        lambda: GraphVersion.objects.filter(number=2).delete(),
    ],
)
def test_history_cannot_be_rewritten(statement: Any, machine: Actor) -> None:
    load(shop(model("extra", "model.shop.orders")), machine)
    load(shop(), machine)
    with pytest.raises(IntegrityError), transaction.atomic():
        statement()


def test_a_large_project_is_imported_in_short_steps(machine: Actor, django_assert_max_num_queries: Any) -> None:
    nodes = [model(f"m{n}", *([f"model.shop.m{n // 2}"] if n else [])) for n in range(400)]
    started = time.perf_counter()
    with django_assert_max_num_queries(80):
        report = load(manifest(nodes), machine)
    assert (report.assets, report.edges) == (400, 399)
    assert time.perf_counter() - started < 5
    with django_assert_max_num_queries(25):
        load(manifest(nodes, stamp="two"), machine)


def test_exposures_pass_through_metrics_to_tables(machine: Actor) -> None:
    document = orjson.loads(manifest([model("orders")], exposures=[exposure("board", "metric.shop.total")]))
    document["metrics"] = {
        "metric.shop.total": {
            "unique_id": "metric.shop.total",
            "resource_type": "metric",
            "name": "total",
            "package_name": "shop",
            "depends_on": {"nodes": ["model.shop.orders"]},
        }
    }
    load(orjson.dumps(document), machine)
    assert names(ancestors(find_asset("board"))) == {"dev.main.orders": 1}


@needs_corpus
@pytest.mark.parametrize(
    "path", sorted(Path(CORPUS or "/nowhere").glob("manifests/*.json")), ids=lambda path: path.stem
)
def test_manifests_of_the_world_import(path: Path, machine: Actor) -> None:
    started = time.perf_counter()
    report = load(path.read_bytes(), machine)
    assert time.perf_counter() - started < 2
    assert report.assets > 0
    assert load(path.read_bytes(), machine).graph_version == report.graph_version == 1


@pytest.mark.usefixtures("committing")
def test_imports_at_the_same_moment_take_turns() -> None:
    actor = Actor(system("cli"), "cli")
    together = Barrier(4)

    def one(number: int) -> int:
        data = manifest([model(f"m{number}", package=f"p{number}")], project=f"p{number}")
        together.wait()
        try:
            return load(data, actor).graph_version
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        versions = sorted(pool.map(one, range(4)))
    assert versions == [1, 2, 3, 4]
    assert sorted(GraphVersion.objects.values_list("number", flat=True)) == [1, 2, 3, 4]
    assert NodeClaim.objects.filter(removed_in__isnull=True).count() == 4
