"""The blast radius: walks over any graph, and readers in the order in which they read."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from typing import Any

import networkx
import numpy as np
import pytest

from catalog import reach as reach_module
from catalog.adjacency import Adjacency
from catalog.models import Asset
from catalog.reach import Reach, reach
from catalog.selectors import find_asset
from catalog.services.declare import declare
from catalog.services.imports import import_manifest
from foundation.audit import Actor
from foundation.errors import BadInput
from foundation.models import Person
from tests.catalog.manifests import manifest, model, shop

AT = datetime(2026, 9, 29, 1, 13, tzinfo=UTC)


def readers(*more: dict[str, Any]) -> dict[str, Any]:
    sync = {
        "asset": "Copy of orders",
        "kind": "sync",
        "tool": "copier",
        "mode": "mirror",
        "reads": "main.orders",
        "schedule": {"cron": "0 * * * *", "zone": "America/New_York"},
        "operator": "teammate@example.com",
        "consequence": "Rows that are gone here are removed there.",
        "lead_minutes": 2,
    }
    board = {"asset": "Board", "kind": "dashboard", "through": "Copy of orders", "schedule": {"cron": "45 7 * * *"}}
    return {"consumers": [sync, board, *more]}


def consumer(found: Reach, name: str) -> dict[str, Any]:
    return next(dict(one) for one in found.consumers if one["name"] == name)


@pytest.mark.django_db
def test_readers_come_in_the_order_in_which_they_read(machine: Actor, teammate: Person) -> None:
    import_manifest(shop(), actor=machine)
    declare(readers(), actor=machine)
    found = reach(find_asset("stg_orders"), at=AT)
    assert [one["name"] for one in found.consumers] == ["Copy of orders", "Board", "exposure.shop.weekly_board"]
    assert found.next_read == "2026-09-29T02:00:00.000000Z"
    assert (found.total, found.truncated) == (5, False)


@pytest.mark.django_db
def test_a_reader_tells_all_that_is_declared_of_it(machine: Actor, teammate: Person) -> None:
    import_manifest(shop(), actor=machine)
    declare(readers(), actor=machine)
    sync = consumer(reach(find_asset("main.orders"), at=AT), "Copy of orders")
    assert sync.pop("asset_id") == find_asset("Copy of orders").pk
    assert sync == {
        "name": "Copy of orders",
        "kind": "sync",
        "hops": 1,
        "through": None,
        "tool": "copier",
        "mode": "mirror",
        "delete_rule": "",
        "consequence": "Rows that are gone here are removed there.",
        "next_read": "2026-09-29T02:00:00.000000Z",
        "lead_seconds": 120,
        "last_useful_minute": "2026-09-29T01:58:00.000000Z",
        "operator": {"person_id": teammate.pk, "name": "Tom Teammate"},
        "owner": None,
        "business_owner": None,
        "tool_admin": None,
        "approved_by": None,
    }


@pytest.mark.django_db
def test_a_board_is_reached_through_its_sync_unless_a_table_feeds_it(machine: Actor, teammate: Person) -> None:
    import_manifest(shop(), actor=machine)
    declare(readers({"asset": "Other", "kind": "report", "reads": ["revenue", "Copy of orders"]}), actor=machine)
    found = reach(find_asset("main.orders"), at=AT)
    assert consumer(found, "Board")["through"] == "Copy of orders"
    assert consumer(found, "Other")["through"] is None
    assert consumer(found, "Other")["next_read"] is None


@pytest.mark.django_db
def test_an_api_trigger_has_no_known_time(machine: Actor, teammate: Person) -> None:
    import_manifest(shop(), actor=machine)
    sync = {"asset": "S", "tool": "t", "reads": "revenue", "schedule": {"triggered_by_api": True}}
    declare({"consumers": [sync]}, actor=machine)
    assert consumer(reach(find_asset("revenue"), at=AT), "S")["next_read"] is None


@pytest.mark.django_db
def test_a_hop_limit_cuts_and_says_so(machine: Actor) -> None:
    import_manifest(shop(), actor=machine)
    found = reach(find_asset("stg_orders"), at=AT, hops=1)
    assert [node["name"] for node in found.nodes] == ["dev.main.orders"]
    assert (found.total, found.truncated, found.consumers) == (3, True, ())
    with pytest.raises(BadInput):
        reach(find_asset("stg_orders"), at=AT, hops=0)


@pytest.mark.django_db
def test_more_nodes_than_fit_are_counted_and_readers_still_listed(
    machine: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reach_module, "MOST_NODES", 1)
    import_manifest(shop(), actor=machine)
    found = reach(find_asset("raw.orders"), at=AT)
    assert (len(found.nodes), found.total, found.truncated) == (1, 4, True)
    assert len(found.consumers) == 1
    assert found.edges == ((found.asset_id, found.nodes[0]["asset_id"]),)


@pytest.mark.django_db
def test_a_removed_table_is_answered_for_as_it_was(machine: Actor) -> None:
    import_manifest(shop(), actor=machine)
    import_manifest(manifest([model("other")]), actor=machine)
    found = reach(find_asset("main.orders"), at=AT)
    assert (found.graph_version, found.total) == (1, 2)


@pytest.mark.django_db
def test_an_older_version_does_not_leak_into_a_newer_one(machine: Actor) -> None:
    import_manifest(shop(), actor=machine)
    orders = find_asset("main.orders")
    assert reach(orders, at=AT).total == 2
    import_manifest(shop(model("extra", "model.shop.orders")), actor=machine)
    assert reach(orders, at=AT).total == 3


@pytest.mark.django_db
def test_the_answer_is_plain_json_with_a_steady_digest(machine: Actor, teammate: Person) -> None:
    import_manifest(shop(), actor=machine)
    declare(readers(), actor=machine)
    first, second = (reach(find_asset("stg_orders"), at=AT) for _ in range(2))
    assert json.loads(json.dumps(first.as_dict())) == first.as_dict()
    assert first.digest == second.digest
    assert reach(find_asset("stg_orders"), at=AT, hops=1).digest != first.digest


@pytest.mark.django_db
def test_an_asset_without_edges_reaches_nothing() -> None:
    alone = Asset.objects.create(namespace="x", name="alone", kind="table")
    found = reach(alone, at=AT)
    assert (found.total, found.nodes, found.edges, found.consumers) == (0, (), (), ())


@pytest.mark.django_db
def test_queries_do_not_grow_with_the_graph(machine: Actor, django_assert_max_num_queries: Any) -> None:
    import_manifest(
        manifest([model(f"m{n}", *([f"model.shop.m{n - 1}"] if n else [])) for n in range(200)]), actor=machine
    )
    first = find_asset("main.m0")
    with django_assert_max_num_queries(10):
        assert reach(first, at=AT).total == 199


@pytest.mark.parametrize("seed", range(200))
def test_walks_agree_with_networkx_on_graphs_with_cycles(seed: int) -> None:
    pick = random.Random(seed)  # noqa: S311
    count = pick.randint(1, 40)
    pairs = [(pick.randrange(count) * 7, pick.randrange(count) * 7) for _ in range(pick.randint(1, 120))]
    other = networkx.DiGraph(pairs)
    graph = Adjacency.of(1, np.array(pairs))
    start = pick.choice(pairs)[0]
    for direction, side in (("down", other), ("up", other.reverse())):
        walk = graph.walk(start, direction)  # type: ignore[arg-type]
        expected = networkx.single_source_shortest_path_length(side, start)
        del expected[start]
        assert dict(zip(walk.ids.tolist(), walk.hops.tolist(), strict=True)) == expected
        assert walk.hops.tolist() == sorted(walk.hops.tolist())


def test_an_id_outside_the_graph_reaches_nothing() -> None:
    graph = Adjacency.of(1, np.array([[1, 2]]))
    assert graph.walk(9, "down").ids.tolist() == []
    assert graph.neighbours(0, "up") == []
    assert Adjacency.of(0, np.empty((0, 2), dtype=np.int64)).walk(1, "up").ids.tolist() == []
