"""The blast radius: walks over any graph, and readers in the order in which they read."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from catalog.graph import reach as reach_module
from catalog.graph.reach import Reach, reach
from catalog.models import Asset, AssetRole
from catalog.selectors import find_asset
from catalog.services.declare import declare
from catalog.services.imports import import_manifest
from foundation.audit import Actor
from foundation.errors import BadInput
from foundation.models import Person
from tests.catalog.graph_rows import Rows, claimed
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
    orders = find_asset("main.orders")
    sync = consumer(reach(orders, at=AT), "Copy of orders")
    assert sync.pop("asset_id") == find_asset("Copy of orders").pk
    assert sync == {
        "name": "Copy of orders",
        "kind": "sync",
        "hops": 1,
        "via": orders.pk,
        "status": "standing",
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
def test_of_readers_at_one_minute_the_one_that_harms_most_comes_first() -> None:
    rows = Rows()
    names = ["board", "extract", "full", "append", "mirror", "activation", "said", "not said", "untold", "no time"]
    rows.version([("table", name) for name in names])
    for name in names[1:6]:
        rows.reader(name, kind="sync", tool="tool", mode=name, cron="0 2 * * *", consequence="Something.")
    rows.reader("board", cron="0 2 * * *")
    rows.reader("untold", kind="sync", cron="0 2 * * *", consequence="Something.")
    rows.reader("said", kind="sync", tool="tool", cron="0 1 * * *", consequence="Something.", zone="Etc/GMT+2")
    rows.reader("not said", kind="sync", tool="tool", cron="0 3 * * *")
    rows.reader("no time", kind="sync", tool="tool", mode="mirror", consequence="Something.")
    listed = [one["name"] for one in reach(rows.assets["table"], at=AT).consumers]
    same_minute = ["untold", "activation", "mirror", "append", "full", "extract", "board"]
    assert listed == [*same_minute, "not said", "said", "no time"]


@pytest.mark.django_db
def test_what_nobody_wrote_down_and_what_must_be_held_earlier_comes_first() -> None:
    rows = Rows()
    rows.version([("table", name) for name in ("said", "silent", "early")])
    rows.reader("said", cron="0 2 * * *", consequence="Something.", lead_seconds=60)
    rows.reader("early", cron="0 2 * * *", consequence="Something.", lead_seconds=600)
    rows.reader("silent", cron="0 2 * * *", lead_seconds=0)
    assert [one["name"] for one in reach(rows.assets["table"], at=AT).consumers] == ["silent", "early", "said"]


@pytest.mark.django_db
def test_a_suggested_reader_counts_and_a_refused_or_withdrawn_one_does_not() -> None:
    rows = Rows()
    rows.version([("table", name) for name in ("suggested", "refused", "withdrawn")])
    for name in ("suggested", "refused", "withdrawn"):
        rows.reader(name, status=name)
    found = reach(rows.assets["table"], at=AT)
    assert [(one["name"], one["status"]) for one in found.consumers] == [("suggested", "suggested")]


@pytest.mark.django_db
def test_a_schedule_that_cannot_be_read_any_more_leaves_its_reader_in_the_list() -> None:
    rows = Rows()
    rows.version([("table", "good"), ("table", "broken")])
    rows.reader("good", cron="0 2 * * *")
    rows.reader("broken", cron="0 2 * * *", zone="Nowhere/Gone")
    assert [one["next_read"] is None for one in reach(rows.assets["table"], at=AT).consumers] == [False, True]


@pytest.mark.django_db
def test_each_node_names_the_one_before_it_on_a_shortest_way() -> None:
    rows = Rows()
    rows.version([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "a")])
    found = reach(rows.assets["a"], at=AT)
    ways = [(node["name"], node["hops"], rows.names([node["via"]])[0]) for node in found.nodes]
    assert ways == [("b", 1, "a"), ("c", 1, "a"), ("d", 2, "b")]
    assert len(found.edges) == 5


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
    alone = claimed(Asset.objects.create(namespace="x", name="alone", kind="table"))
    found = reach(alone, at=AT)
    assert (found.total, found.nodes, found.edges, found.consumers) == (0, (), (), ())


@pytest.mark.django_db
def test_queries_do_not_grow_with_the_graph(owner: Person, django_assert_max_num_queries: Any) -> None:
    rows = Rows()
    rows.version([(f"m{n}", f"m{n + 1}") for n in range(199)])
    for n in range(100, 200):
        consumer = rows.reader(f"m{n}", cron="0 2 * * *", approved_by=owner)
        AssetRole.objects.create(asset=consumer.asset, person=owner, role="operator")
    with django_assert_max_num_queries(10):
        found = reach(rows.assets["m0"], at=AT)
    assert (found.total, len(found.consumers)) == (199, 100)
