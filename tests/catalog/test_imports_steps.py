"""How an import writes: little, in short steps, all or nothing, and again after a crash."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson
import pytest
from django.db import connection, transaction

from bench import dbt_project
from catalog.models import (
    Asset,
    AssetRole,
    ColumnLineage,
    ColumnList,
    Consumer,
    EdgeClaim,
    GraphVersion,
    NodeClaim,
    StagedEdge,
    StagedNode,
)
from catalog.selectors import asset_of_node, columns, find_asset, people
from catalog.services import claims, import_details, import_graph, imports, readers, staging
from catalog.services.declare import declare
from catalog.services.imports import import_manifest
from catalog.sources.claims import Claims
from catalog.sources.manifest import read
from foundation.audit import Actor
from foundation.models import AuditRow, Person
from foundation.people import create_person, system
from tests.catalog.manifests import catalog_file, exposure, manifest, model, shop, source

GRAPH = (Asset, NodeClaim, EdgeClaim, GraphVersion, Consumer, ColumnList, AssetRole, ColumnLineage, AuditRow)


def load(data: bytes, actor: Actor, **more: Any) -> imports.ImportReport:
    return import_manifest(data, namespace=more.pop("namespace", "duckdb://house"), actor=actor, **more)


def counts() -> list[int]:
    return [table._default_manager.count() for table in GRAPH]


@contextmanager
def few(number: int) -> Iterator[None]:
    """More rows than `number` are staged."""
    before = staging.FEW
    staging.FEW = number  # type: ignore[misc]
    try:
        yield
    finally:
        staging.FEW = before  # type: ignore[misc]


def test_a_staged_import_is_the_same_as_a_direct_one(machine: Actor) -> None:
    with few(0):
        load(shop(), machine)
    names = sorted(NodeClaim.objects.values_list("local_id", "asset__name", "added_in", "attributes__kind"))
    edges = sorted(EdgeClaim.objects.values_list("from_asset__name", "to_asset__name", "kind", "added_in"))
    assert (len(names), len(edges)) == (5, 4)
    assert not StagedNode.objects.exists()
    assert not StagedEdge.objects.exists()
    with few(1000):
        assert load(shop(), machine).graph_version == 1
        load(shop(project="copy"), machine, namespace="duckdb://copy")
    copied = NodeClaim.objects.filter(source__key="dbt:copy")
    assert sorted(copied.values_list("local_id", "attributes__kind")) == [(one[0], one[3]) for one in names]


def test_what_a_crash_left_staged_is_swept_away_and_never_shows(machine: Actor) -> None:
    held = staging.Staging(claims.source("dbt:gone", "dbt").pk)
    asset = Asset.objects.create(namespace="n", name="a", kind="model")
    with few(0):
        held.hold({"model.gone.a": (asset.pk, {})}, {(asset.pk, asset.pk, "feeds")})
    if connection.vendor == "postgresql":
        pytest.skip("PostgreSQL stages nothing")
    assert StagedNode.objects.count() == StagedEdge.objects.count() == 1
    with few(0):
        load(shop(), machine)
    assert staging.sweep() == 0
    assert StagedNode.objects.count() == 1  # it may still be at work
    old = staging._batch(time.time() - staging.LEFT_BEHIND - 1)
    StagedNode.objects.update(batch=old)
    StagedEdge.objects.update(batch=old)
    assert (staging.sweep(), staging.sweep()) == (2, 0)
    assert not StagedNode.objects.exists()
    assert not StagedEdge.objects.exists()
    assert not NodeClaim.objects.filter(local_id="model.gone.a").exists()


def test_an_import_that_fails_in_its_step_leaves_the_graph_as_it_was(
    machine: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = {"id": {"name": "id", "description": "Key"}}
    load(shop(), machine)
    before = counts()

    def fail(ids: object) -> None:
        raise RuntimeError("the power is gone")

    monkeypatch.setattr(readers, "exposed", fail)
    changed = shop(model("orders", "model.shop.stg_orders", columns=declared, description="New"))
    with few(0), pytest.raises(RuntimeError):
        load(changed, machine)
    assert counts() == before
    assert not StagedNode.objects.exists()
    assert find_asset("main.orders").description == ""
    assert columns(find_asset("main.orders")) == []
    monkeypatch.undo()
    assert load(changed, machine).changed == 1
    assert find_asset("main.orders").description == "New"


def test_somebody_elses_version_in_between_means_comparing_again(
    machine: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare, times = import_graph.Importing.compare, []

    def slow(self: import_graph.Importing) -> claims.Difference:
        found = compare(self)
        times.append(self.key)
        if self.key == "dbt:shop" and times.count("dbt:shop") < 5:
            load(manifest([model(f"m{len(times)}", package="other")], project="other"), machine)
        return found

    monkeypatch.setattr(import_graph.Importing, "compare", slow)
    with few(0):
        report = load(shop(), machine)
    assert times.count("dbt:shop") == 5  # the last one under the lock
    assert report.graph_version == GraphVersion.objects.count() == 5
    assert NodeClaim.objects.filter(source__key="dbt:shop", removed_in__isnull=True).count() == 5


def test_an_import_of_five_thousand_models_writes_in_short_transactions(
    committing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection.vendor == "postgresql":
        pytest.skip("only on SQLite does a writer hold everybody up")
    held: list[float] = []
    data = dbt_project.manifest(5000)
    enter, leave = transaction.Atomic.__enter__, transaction.Atomic.__exit__
    depth: list[float] = []

    def entering(self: Any) -> None:
        enter(self)
        depth.append(time.process_time())

    def leaving(self: Any, *error: Any) -> Any:
        try:
            return leave(self, *error)
        finally:
            start = depth.pop()
            if not depth:
                held.append(time.process_time() - start)

    monkeypatch.setattr(transaction.Atomic, "__enter__", entering)
    monkeypatch.setattr(transaction.Atomic, "__exit__", leaving)
    report = import_manifest(data, actor=Actor(system("cli"), "cli"))
    assert report.assets == 5500
    assert max(held) < 0.5, sorted(held)[-3:]


def test_a_file_without_compiled_code_takes_no_column_lineage_away(machine: Actor) -> None:
    code: dict[str, Any] = {
        "compiled_code": 'select id from "dev"."main"."stg_orders"',
        "columns": {"id": {"name": "id"}},
    }
    load(shop(model("orders", "model.shop.stg_orders", **code)), machine)
    row = ColumnLineage.objects.get(asset=find_asset("main.orders"))
    load(shop(model("orders", "model.shop.stg_orders", columns=code["columns"]), stamp="dbt test"), machine)
    again = ColumnLineage.objects.get(asset=find_asset("main.orders"))
    assert (again.sql, again.checksum) == (row.sql, row.checksum)
    assert again.sql == code["compiled_code"]


def test_owners_of_exposures_and_groups_are_people_here_or_labels(machine: Actor, owner: Person) -> None:
    boards = [
        exposure("known", "model.shop.a", owner={"name": "Olive", "email": "OWNER@example.com"}),
        exposure("outside", "model.shop.a", owner={"name": "Ann  Ex", "email": "ann@elsewhere.com"}),
        exposure("nobody", "model.shop.a"),
    ]
    document = orjson.loads(manifest([model("a", group="finance")], exposures=boards))
    document["groups"] = {"group.shop.finance": {"name": "finance", "owner": {"name": "Finance"}}}
    load(orjson.dumps(document), machine)
    rows = AssetRole.objects.order_by("asset__name").values_list("asset__name", "person", "label", "role", "source")
    assert list(rows) == [
        ("dev.main.a", None, "Finance", "owner", "dbt:shop"),
        ("exposure.shop.known", owner.pk, "", "owner", "dbt:shop"),
        ("exposure.shop.outside", None, "Ann Ex <ann@elsewhere.com>", "owner", "dbt:shop"),
    ]
    assert people(find_asset("known"), "owner") == [owner]
    load(manifest([model("a")], exposures=boards[1:]), machine)
    assert [role.asset.name for role in AssetRole.objects.all()] == ["exposure.shop.outside"]


def test_an_owner_who_becomes_a_person_here_is_linked_by_the_next_import_without_a_version(machine: Actor) -> None:
    board = exposure("board", "model.shop.a", owner={"name": "Ann", "email": "ann@example.com"})
    load(manifest([model("a")], exposures=[board]), machine)
    ann = create_person("ann@example.com", "Ann")
    before = AuditRow.objects.count()
    assert load(manifest([model("a")], exposures=[board]), machine).graph_version == 1
    assert people(find_asset("board"), "owner") == [ann]
    assert AuditRow.objects.count() == before + 1


def test_of_two_imports_at_once_the_owner_of_the_later_stands_alone(machine: Actor) -> None:
    load(shop(), machine)
    board = find_asset("weekly_board")

    def owned_by(name: str) -> import_details.Owners:
        owned = exposure("weekly_board", "model.shop.orders", owner={"name": name, "email": None})
        claimed = Claims(read(manifest([], exposures=[owned])), "duckdb://house")
        return import_details.Owners(claimed, {"exposure.shop.weekly_board": board.pk}, "dbt:shop")

    first, second = owned_by("First"), owned_by("Second")
    first.write()
    second.write()
    assert list(AssetRole.objects.filter(asset=board, role="owner").values_list("label", flat=True)) == ["Second"]


@pytest.mark.parametrize("first", ["declared", "exposure"])
@pytest.mark.parametrize("called", ["weekly_board", "The Weekly Board", "the weekly board"])
def test_an_exposure_and_the_declared_reader_of_its_name_or_label_are_one_asset(
    first: str, called: str, machine: Actor, person: Actor
) -> None:
    board = exposure("weekly_board", "model.shop.a", label="The Weekly Board")
    data = manifest([model("a")], exposures=[board])
    said = {"consumers": [{"asset": called, "reads": ["main.a"], "schedule": {"cron": "0 9 * * 1", "zone": "UTC"}}]}
    if first == "declared":
        load(manifest([model("a")]), machine)
        declare(said, actor=person)
        load(data, machine)
    else:
        load(data, machine)
        declare(said, actor=person)
    consumer = Consumer.objects.get()
    assert consumer.cron == "0 9 * * 1"
    assert asset_of_node("exposure.shop.weekly_board") == consumer.asset
    assert load(data, machine).added == 0
    assert Consumer.objects.count() == 1


def test_what_meta_declares_is_kept_and_withdrawn_with_it(machine: Actor) -> None:
    said = {
        "spellbook": {"consumers": [{"asset": "Monday mail", "kind": "campaign", "schedule": {"cron": "0 10 * * 1"}}]}
    }
    report = load(manifest([model("a", meta=said)]), machine)
    reader = find_asset("Monday mail")
    assert reader.consumer.cron == "0 10 * * 1"
    assert not [warning for warning in report.warnings if "meta" in warning.reason], report.warnings
    assert load(manifest([model("a", meta=said)]), machine).warnings == ()
    load(manifest([model("a")]), machine)
    reader.consumer.refresh_from_db()
    assert reader.consumer.status == "withdrawn"


def test_meta_that_means_nothing_is_a_warning_and_no_refusal(machine: Actor) -> None:
    for said in (7, ["x"], {"consumers": 3}, {"owner": 7}, {"nonsense": 1}):
        report = load(manifest([model("a", meta={"spellbook": said})]), machine)
        assert report.warnings, said
        assert all("\n" not in warning.reason for warning in report.warnings)


def test_a_catalog_file_of_the_same_code_brings_columns_without_a_version(machine: Actor) -> None:
    load(shop(), machine)
    audited = AuditRow.objects.count()
    tables = catalog_file(("model.shop.orders", {"id": "BIGINT"}))
    assert load(shop(), machine, catalog=tables).graph_version == 1
    assert [column.name for column in columns(find_asset("main.orders"))] == ["id"]
    assert AuditRow.objects.count() == audited + 1
    assert load(shop(), machine, catalog=tables).graph_version == 1
    assert AuditRow.objects.count() == audited + 1


def test_the_unchanged_is_seen_by_marks_and_a_changed_description_is_not_missed(machine: Actor) -> None:
    load(shop(), machine)
    fields: tuple[tuple[str, Any], ...] = (
        ("description", "New"), ("tags", ["x"]), ("columns", {"a": {"name": "a"}}), ("alias", "orders_2"),
        ("config", {"materialized": "view"}), ("group", "g"), ("original_file_path", "models/x.sql"), ("version", 3),
        ("checksum", {"name": "sha256", "checksum": "z"}), ("depends_on", {"nodes": []}),
        ("quoting", {"identifier": True}),
    )  # fmt: skip
    for field, value in fields:
        report = load(shop(model("orders", "model.shop.stg_orders", **{field: value})), machine)
        assert (report.changed, report.removed) == (1, 0) if field != "quoting" else report.changed in (0, 1), field
        assert load(shop(), machine).changed in (0, 1)


def test_history_is_kept_in_intervals_and_a_node_that_comes_back_opens_a_new_one(machine: Actor) -> None:
    extra = model("extra", "model.shop.orders")
    for data in (shop(extra), shop(), shop(extra), shop(extra)):
        load(data, machine)
    spans = NodeClaim.objects.filter(local_id="model.shop.extra").order_by("added_in")
    assert list(spans.values_list("added_in", "removed_in")) == [(1, 2), (3, None)]
    edges = EdgeClaim.objects.filter(to_asset__name="dev.main.extra").order_by("added_in")
    assert list(edges.values_list("added_in", "removed_in")) == [(1, 2), (3, None)]
    assert list(GraphVersion.objects.order_by("number").values_list("number", flat=True)) == [1, 2, 3]


def test_stale_edges_go_while_what_people_declared_stays(machine: Actor, person: Actor) -> None:
    load(shop(), machine)
    said = {"consumers": [{"asset": "Mirror", "kind": "sync", "tool": "x", "reads": ["main.revenue"]}],
            "notes": [{"asset": "main.revenue", "text": "Ask finance first."}]}  # fmt: skip
    declare(said, actor=person)
    load(shop(model("revenue", "model.shop.stg_orders")), machine)
    edges = EdgeClaim.objects.filter(removed_in__isnull=True)
    found = set(edges.values_list("from_asset__name", "to_asset__name", "source__key"))
    assert ("dev.main.orders", "dev.main.revenue", "dbt:shop") not in found
    assert ("dev.main.stg_orders", "dev.main.revenue", "dbt:shop") in found
    assert [one for one in found if one[1] == "Mirror"] == [("dev.main.revenue", "Mirror", "declared")]
    assert find_asset("main.revenue").notes.count() == 1


def test_the_freshness_of_sources_is_read_and_unknown_ones_are_warned_of(machine: Actor) -> None:
    results = [
        {"unique_id": "source.shop.raw.orders", "status": "PASS", "max_loaded_at": "2026-01-01T00:00:00Z"},
        {"unique_id": "source.shop.raw.gone", "status": "runtime error", "error": "no table"},
        {"status": "pass"},
    ]
    data = orjson.dumps({"metadata": {}, "results": results})
    report = load(shop(), machine, sources=data)
    assert [warning.node for warning in report.warnings] == ["", "source.shop.raw.gone"]
    old = orjson.dumps({"sources": {"source.shop.raw.orders": {"state": "warn"}}})
    assert load(shop(), machine, sources=old).warnings == ()


def test_a_source_that_is_another_projects_model_keeps_its_columns(machine: Actor) -> None:
    load(manifest([model("orders", columns={"id": {"name": "id", "data_type": "int"}})]), machine)
    key, raw = source("orders", schema="main", package="other")
    reads = (key, {**raw, "columns": {"ID": {"name": "ID", "description": "Key"}}, "description": "Theirs"})
    load(manifest([model("b", key, package="other")], sources=[reads], project="other"), machine)
    found = columns(find_asset("main.orders"))
    assert [(one.name, one.type, one.description) for one in found] == [("id", "int", "Key")]
    assert (find_asset("main.orders").kind, find_asset("main.orders").description) == ("model", "Theirs")
