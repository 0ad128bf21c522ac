"""One table that dbt, an OpenLineage producer, the warehouse itself and a declared sync name is one asset, whoever
comes first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path

import pytest

from catalog import selectors
from catalog.declared_readers import NAMESPACE
from catalog.graph.adjacency import adjacency
from catalog.models import Asset, NodeClaim
from catalog.names import find_asset
from catalog.services import lineage_events, namespaces
from catalog.services.declare import declare
from catalog.services.imports import import_manifest
from catalog.services.introspect import introspect
from foundation import connections
from foundation.audit import Actor
from tests.catalog import manifests
from tests.catalog.openlineage import at, dataset, run_event
from tests.catalog.servers import postgres, run, write

pytestmark = pytest.mark.django_db
SPACE = "duckdb://shop"
ORDERS = ("dbt", "events", "warehouse", "people")
EVERY = [
    pytest.param(order, marks=() if place % 5 == 0 else pytest.mark.prove, id="-".join(order))
    for place, order in enumerate(permutations(ORDERS))
]
"""Who comes first; every fifth order is tried each time, all of them by make prove."""
SYNC = {"asset": "orders to ads", "kind": "sync", "tool": "ads", "mode": "mirror", "reads": "main.orders"}


def tables() -> set[str]:
    readers = Asset.objects.filter(namespace=NAMESPACE)
    return {f"{one.namespace}/{one.name}" for one in Asset.objects.exclude(pk__in=readers)}


def sources_of(asset: Asset) -> set[str]:
    return set(NodeClaim.objects.filter(asset=asset, removed_in=None).values_list("source__key", flat=True))


@pytest.mark.parametrize("order", EVERY)
def test_a_duckdb_table_that_four_sources_name(
    order: tuple[str, ...], machine: Actor, person: Actor, tmp_path: Path
) -> None:
    file = tmp_path / "Dev.duckdb"
    write(file, "create schema raw", "create table raw.orders (id integer)", "create table Orders (id integer)")
    connections.save(
        "shop", kind="duckdb", purpose="read", namespace=SPACE, params={"path": str(file)}, secret_names=[],
        actor=machine,
    )  # fmt: skip

    def dbt() -> None:
        told = manifests.model(
            "orders", "source.shop.raw.orders", database="Dev", relation_name='"Dev"."main"."orders"'
        )
        data = manifests.manifest([told], sources=[manifests.source("orders")])
        import_manifest(data, namespace=SPACE, actor=machine)

    def events() -> None:
        """As dbt's own integration writes them: the path of the file, and names without quotes."""
        names = [dataset(name, f"duckdb://{file}") for name in ("dev.raw.orders", "Dev.Main.Orders")]
        event = run_event("COMPLETE", at(1), inputs=names[:1], outputs=names[1:])
        lineage_events.receive([event], actor=machine)
        assert lineage_events.process_due(10, actor=machine) == 1

    def warehouse() -> None:
        introspect("shop", actor=machine)

    def people() -> None:
        declare({"consumers": [SYNC]}, actor=person)

    say: dict[str, Callable[[], None]] = {"dbt": dbt, "events": events, "warehouse": warehouse, "people": people}
    for one in order:
        say[one]()
    assert tables() == {f"{SPACE}/dev.raw.orders", f"{SPACE}/dev.main.orders"}
    orders = Asset.objects.get(namespace=SPACE, name="dev.main.orders")
    assert sources_of(orders) == {"dbt:shop", "openlineage", "warehouse:shop"}
    assert orders.kind == "model"
    assert [column.type for column in selectors.columns(orders)] == ["INTEGER"]
    raw, sync = find_asset("raw.orders"), find_asset("orders to ads")
    assert adjacency().walk(raw.pk, "down").ids.tolist() == [orders.pk, sync.pk]


@pytest.fixture(scope="module")
def uri() -> Iterator[str]:
    with postgres() as address:
        run(address, "create schema raw", "create schema main", 'create table raw.orders (id int)',
            'create table main."Orders" (id int)', "create table main.orders (id int)")  # fmt: skip
        yield address


def test_a_quoted_postgresql_table_and_its_plain_namesake_stay_two(uri: str, machine: Actor, person: Actor) -> None:
    space, host = "postgres://warehouse", "postgres://10.0.0.5:5432"
    connections.save(
        "pg", kind="postgres", purpose="read", namespace=space, params={"uri": uri}, secret_names=[], actor=machine
    )
    told = [
        manifests.model("orders", database="postgres", relation_name='"postgres"."main"."orders"'),
        manifests.model("big", "model.shop.orders", database="postgres", alias="Orders",
                        relation_name='"postgres"."main"."Orders"'),
    ]  # fmt: skip
    import_manifest(manifests.manifest(told, adapter="postgres"), namespace=space, actor=machine)
    introspect("pg", actor=machine)
    names = [dataset("postgres.main.Orders", host), dataset("postgres.main.ORDERS", host)]
    lineage_events.receive([run_event("COMPLETE", at(1), inputs=names[1:], outputs=names[:1])], actor=machine)
    lineage_events.process_due(10, actor=machine)
    assert f"{host}/postgres.main.orders" in tables()
    namespaces.declare("postgresql://10.0.0.5", space, actor=person)
    lineage_events.receive(
        [run_event("COMPLETE", at(2), inputs=names[1:], outputs=names[:1], run="two")], actor=machine
    )
    lineage_events.process_due(10, actor=machine)
    standing = Asset.objects.filter(claims__removed_in__isnull=True, claims__isnull=False).distinct()
    assert {f"{one.namespace}/{one.name}" for one in standing} == {
        f"{space}/postgres.raw.orders", f"{space}/postgres.main.orders", f"{space}/postgres.main.Orders",
    }  # fmt: skip
    for name in ("orders", "Orders"):
        asset = Asset.objects.get(namespace=space, name=f"postgres.main.{name}")
        assert sources_of(asset) == {"dbt:shop", "openlineage", "warehouse:pg"}
    below = adjacency().walk(find_asset("postgres.main.orders").pk, "down").ids.tolist()
    assert below == [find_asset("postgres.main.Orders").pk]
