"""What a warehouse itself says becomes claims: on real DuckDB files and a real PostgreSQL server."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from catalog import selectors
from catalog.models import (
    Asset,
    ColumnLineage,
    Consumer,
    GraphVersion,
    Introspection,
    NodeClaim,
    TableSize,
)
from catalog.names import find_asset
from catalog.services import assets, claims, introspections, namespaces
from catalog.services.imports import import_manifest
from catalog.services.introspect import IntrospectReport, introspect
from foundation import clock, connections
from foundation.audit import Actor, sentence
from foundation.errors import BadInput, Busy, Conflict, NotAllowed, NotFound, Unavailable
from foundation.models import AuditRow, Connection
from tests.catalog import manifests
from tests.catalog.graphs import standing_edges
from tests.catalog.servers import postgres, run, write

SHOP = (
    "create schema raw",
    "create table raw.orders as select i as id, i / 4.0 as price from range(1000) r(i)",
    "comment on table raw.orders is 'Orders as they came'",
    "comment on column raw.orders.id is 'The key'",
    "create table orders (id integer not null, price decimal(10, 2))",
    "create view revenue as select sum(price) as total from main.orders",
    "create view mixed as select * from Orders o join raw.orders using (id)",
)


@pytest.fixture
def shop(machine: Actor, tmp_path: Path) -> Path:
    path = tmp_path / "dev.duckdb"
    write(path, *SHOP)
    connect(machine, path)
    return path


def connect(machine: Actor, path: Path, namespace: str = "duckdb://shop", **more: Any) -> Connection:
    wanted = {"kind": "duckdb", "purpose": "read", "namespace": namespace, "params": {"path": str(path)}} | more
    return connections.save("shop", **wanted, secret_names=[], actor=machine)


def asset(name: str) -> Asset:
    return Asset.objects.get(namespace="duckdb://shop", name=name)


def test_tables_views_columns_comments_and_sizes_of_a_duckdb_file_stand_in_the_graph(
    shop: Path, machine: Actor
) -> None:
    report = introspect("shop", actor=machine)
    assert report == IntrospectReport("shop", "duckdb://shop", 1, 4, 8, 2, 4, 0, 0, report.warnings)
    orders = asset("dev.raw.orders")
    assert (orders.kind, orders.description) == ("table", "Orders as they came")
    assert [vars(column) for column in selectors.columns(orders)] == [
        {"name": "id", "type": "BIGINT", "description": "The key", "nullable": True},
        {"name": "price", "type": "DOUBLE", "description": "", "nullable": True},
    ]
    assert selectors.columns(asset("dev.main.orders"))[0].nullable is False
    assert asset("dev.main.revenue").kind == "view"
    size = TableSize.objects.get(asset=orders)
    assert (size.rows, size.source.key) == (1000, "warehouse:shop")
    assert size.bytes
    assert standing_edges() >= {("warehouse:shop", "dev.main.orders", "dev.main.revenue")}
    relation = selectors.relation(orders)
    assert relation is not None
    assert (str(relation), relation.dialect, relation.namespace) == ("dev.raw.orders", "duckdb", "duckdb://shop")
    told = [sentence(row) for row in AuditRow.objects.filter(action="graph.introspected")]
    assert told == ["read the tables of shop as graph version 1: 4 added, 0 changed, 0 removed"]


def test_what_a_view_reads_is_claimed_where_it_is_sure_and_told_where_it_is_not(shop: Path, machine: Actor) -> None:
    report = introspect("shop", actor=machine)
    assert standing_edges() == {
        ("warehouse:shop", "dev.main.orders", "dev.main.revenue"),
        ("warehouse:shop", "dev.raw.orders", "dev.main.mixed"),
    }
    assert report.as_dict()["warnings"] == [
        {"node": "dev.main.mixed", "reason": "what it reads is not known in full: it reads Orders, of which it cannot "
         "be told which table it is"},
    ]  # fmt: skip
    staged = ColumnLineage.objects.filter(source="warehouse:shop").values_list("asset__name", flat=True)
    assert set(staged) == {"dev.main.revenue", "dev.main.mixed"}


def test_the_same_tables_again_make_no_version_but_tell_their_new_size(shop: Path, machine: Actor) -> None:
    introspect("shop", actor=machine)
    write(shop, "insert into raw.orders select i, 1 from range(1000, 3000) r(i)")
    again = introspect("shop", actor=machine)
    assert (again.graph_version, again.added, again.changed, again.removed) == (1, 0, 0, 0)
    assert GraphVersion.objects.count() == 1
    assert TableSize.objects.get(asset=asset("dev.raw.orders")).rows == 3000


def test_what_changed_is_a_new_version_and_what_is_gone_is_closed(shop: Path, machine: Actor) -> None:
    introspect("shop", actor=machine)
    write(shop, "drop view mixed", "alter table raw.orders rename price to amount", "create table late (id integer)")
    report = introspect("shop", actor=machine)
    assert (report.graph_version, report.added, report.changed, report.removed) == (2, 1, 1, 1)
    assert [column.name for column in selectors.columns(asset("dev.raw.orders"))] == ["id", "amount"]
    assert not NodeClaim.objects.filter(asset=asset("dev.main.mixed"), removed_in__isnull=True).exists()
    assert standing_edges() == {("warehouse:shop", "dev.main.orders", "dev.main.revenue")}


def test_a_look_that_comes_to_nothing_changes_no_words_and_the_next_one_says_what_it_completes(
    shop: Path, machine: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    introspect("shop", actor=machine)
    write(shop, "comment on table raw.orders is 'Other words'", "alter table raw.orders rename price to amount")

    def busy() -> None:
        raise Busy("The database is busy; nothing was recorded.")

    monkeypatch.setattr(claims, "hold_graph", busy)
    with pytest.raises(Busy):
        introspect("shop", actor=machine)
    monkeypatch.undo()
    orders = asset("dev.raw.orders")
    assert orders.description == "Orders as they came"
    assert [column.name for column in selectors.columns(orders)] == ["id", "price"]
    monkeypatch.setattr(assets.Description, "write_in_chunks", lambda self: busy())
    with pytest.raises(Busy):
        introspect("shop", actor=machine)
    monkeypatch.undo()
    assert introspect("shop", actor=machine).graph_version == 2
    assert asset("dev.raw.orders").description == "Other words"
    said = AuditRow.objects.order_by("-pk")[:2]
    assert [row.action for row in said] == ["graph.detailed", "graph.introspected"]


def test_a_warehouse_that_shows_nothing_where_it_had_tables_is_not_believed_unless_said(
    shop: Path, machine: Actor
) -> None:
    introspect("shop", actor=machine)
    shop.unlink()
    write(shop)
    with pytest.raises(Conflict, match="shows no table at all, where it had 4"):
        introspect("shop", actor=machine)
    assert NodeClaim.objects.filter(removed_in__isnull=True).count() == 4
    assert "no table at all" in Introspection.objects.get().problem
    assert introspect("shop", actor=machine, emptied=True).removed == 4
    assert Introspection.objects.get().problem == ""


def test_a_table_that_dbt_builds_keeps_dbts_words_and_gets_the_warehouses_types(shop: Path, machine: Actor) -> None:
    told = manifests.model("orders", "source.shop.raw.orders", description="Orders, cleaned", columns={
        "id": {"name": "id", "data_type": "int", "description": "key"},
    })  # fmt: skip
    data = manifests.manifest([told], sources=[manifests.source("orders")])
    import_manifest(data, namespace="duckdb://shop", actor=machine)
    introspect("shop", actor=machine)
    orders = asset("dev.main.orders")
    assert (orders.kind, orders.description) == ("model", "Orders, cleaned")
    assert [vars(column) for column in selectors.columns(orders)] == [
        {"name": "id", "type": "INTEGER", "description": "key", "nullable": False},
        {"name": "price", "type": "DECIMAL(10,2)", "description": "", "nullable": True},
    ]
    assert Asset.objects.filter(namespace="duckdb://shop").count() == 4
    import_manifest(data, namespace="duckdb://shop", actor=machine)
    assert selectors.columns(orders)[0].type == "INTEGER"
    assert selectors.dbt_node(orders) is not None


def test_two_connections_close_only_their_own_claims(shop: Path, machine: Actor, tmp_path: Path) -> None:
    introspect("shop", actor=machine)
    write(tmp_path / "other.duckdb", "create table t (id integer)")
    connections.save(
        "other", kind="duckdb", purpose="read", namespace="duckdb://other",
        params={"path": str(tmp_path / "other.duckdb")}, secret_names=[], actor=machine,
    )  # fmt: skip
    introspect("other", actor=machine)
    assert NodeClaim.objects.filter(removed_in__isnull=True).count() == 5


def test_a_namespace_that_is_an_alias_means_its_target(shop: Path, machine: Actor, person: Actor) -> None:
    Connection.objects.update(namespace="")
    namespaces.declare("duckdb://shop", "duckdb://estate", actor=person)
    Connection.objects.update(namespace="duckdb://shop")
    assert introspect("shop", actor=machine).namespace == "duckdb://estate"


def test_what_cannot_be_asked_is_refused_in_words_and_the_problem_stands_with_the_connection(
    shop: Path, machine: Actor, agent: Actor
) -> None:
    with pytest.raises(NotFound, match="no connection named"):
        introspect("none", actor=machine)
    with pytest.raises(BadInput, match="reads no warehouse"):
        introspect(connect(machine, shop, kind="git", params={}).name, actor=machine)
    with pytest.raises(BadInput, match="declares no namespace"):
        introspect(connect(machine, shop, namespace="").name, actor=machine)
    agent.principal.namespaces = ["duckdb://mine"]
    with pytest.raises(NotAllowed, match="may not write in duckdb://shop"):
        introspect(connect(machine, shop).name, actor=agent)
    connect(machine, shop.with_name("away.duckdb"))
    with pytest.raises(Unavailable, match="does not exist"):
        introspect("shop", actor=machine)
    row = Introspection.objects.get()
    assert (row.seen_at, row.tables) == (None, None)
    assert "does not exist" in row.problem
    assert not GraphVersion.objects.exists()


def test_a_name_too_long_for_the_catalogue_is_left_out_with_a_warning(machine: Actor, tmp_path: Path) -> None:
    path = tmp_path / "dev.duckdb"
    write(path, f'create table "{"x" * 600}" (id integer)', "create table short (id integer)")
    connect(machine, path)
    report = introspect("shop", actor=machine)
    assert (report.tables, len(report.warnings)) == (1, 1)
    assert "too long" in report.warnings[0].reason


@pytest.fixture(scope="module")
def uri() -> Iterator[str]:
    with postgres() as address:
        run(
            address,
            "create schema sales",
            'create table sales."Orders" (id bigint primary key, price numeric(10, 2))',
            "create table sales.orders (id bigint)",
            'create view sales.both as select o.id, price from sales.orders o join sales."Orders" using (id)',
            "comment on column sales.orders.id is 'The key'",
            "create role reader login",
            "grant usage on schema sales to reader",
        )
        yield address


def test_a_postgresql_server_keeps_quoted_names_apart(uri: str, machine: Actor) -> None:
    connections.save(
        "pg", kind="postgres", purpose="read", namespace="postgres://warehouse", params={"uri": uri}, secret_names=[],
        actor=machine,
    )  # fmt: skip
    report = introspect("pg", actor=machine)
    assert (report.tables, report.edges, report.warnings) == (3, 2, ())
    assert standing_edges() == {
        ("warehouse:pg", "postgres.sales.orders", "postgres.sales.both"),
        ("warehouse:pg", "postgres.sales.Orders", "postgres.sales.both"),
    }
    quoted = find_asset("postgres://warehouse/postgres.sales.Orders")
    assert [column.type for column in selectors.columns(quoted)] == ["bigint", "numeric(10,2)"]
    with psycopg.connect(uri) as build:
        build.execute("lock table sales.orders in access exclusive mode")
        with pytest.raises(Unavailable, match="somebody else has locked"):
            introspect("pg", actor=machine)
    assert NodeClaim.objects.filter(removed_in__isnull=True).count() == 3
    assert introspect("pg", actor=machine).graph_version == 1


def look(machine: Actor) -> Any:
    return lambda name: introspect(name, actor=machine)


def test_the_sweep_looks_at_each_warehouse_once_in_its_time(machine: Actor, tmp_path: Path) -> None:
    write(tmp_path / "dev.duckdb", "create table t (id integer)")
    connect(machine, tmp_path / "dev.duckdb")
    assert introspections.sweep(5, look(machine)) == 1
    row = Introspection.objects.get()
    assert row.due_at is not None
    assert row.due_at > clock.now() + timedelta(minutes=59)
    assert (row.tables, row.problem, row.lease_token) == (1, "", None)
    assert introspections.sweep(5, look(machine)) == 0
    Introspection.objects.update(due_at=clock.now())
    (tmp_path / "dev.duckdb").unlink()
    assert introspections.sweep(5, look(machine)) == 0
    row.refresh_from_db()
    assert row.due_at < clock.now() + timedelta(minutes=6)
    assert "does not exist" in row.problem
    assert (row.tables, row.seen_at is not None) == (1, True)


def test_a_connection_that_reads_no_warehouse_any_more_and_a_sweep_that_is_off_leave_nothing_due(
    machine: Actor, tmp_path: Path, settings: Any
) -> None:
    write(tmp_path / "dev.duckdb", "create table t (id integer)")
    connect(machine, tmp_path / "dev.duckdb")
    settings.SPELLBOOK_INTROSPECT_MINUTES = 0
    assert introspections.sweep(5, look(machine)) == 0
    assert Introspection.objects.get().due_at is None
    settings.SPELLBOOK_INTROSPECT_MINUTES = 60
    assert introspections.sweep(5, look(machine)) == 1
    connect(machine, tmp_path / "dev.duckdb", purpose="run")
    assert introspections.sweep(5, look(machine)) == 0
    assert Introspection.objects.get().due_at is None


def test_readers_of_a_table_that_only_the_warehouse_knew_of_are_joined(shop: Path, machine: Actor) -> None:
    assert not Consumer.objects.exists()
    introspect("shop", actor=machine)
    assert find_asset("raw.orders").name == "dev.raw.orders"
