"""Finding assets by name, and who answers for them."""

from __future__ import annotations

import pytest

from catalog.graph.answering import answering
from catalog.graph.lineage import page
from catalog.graph.reach import reach
from catalog.models import Asset, AssetRole, Domain, EdgeClaim, GraphVersion
from catalog.names import find_each
from catalog.register import register
from catalog.selectors import ancestors, asset_of_node, descendants, find_asset, people, relation, version_for
from catalog.services.declare import declare
from catalog.services.imports import import_manifest
from catalog.warehouse_access import open_for
from foundation import connections
from foundation.audit import Actor
from foundation.clock import now
from foundation.errors import BadInput, NotFound, Unavailable
from foundation.models import Person
from foundation.people import deactivate, display_name
from tests.catalog.graph_rows import Rows, claimed
from tests.catalog.manifests import manifest, model, shop

pytestmark = pytest.mark.django_db


def asset(name: str, namespace: str = "duckdb://house", **more: object) -> Asset:
    return claimed(Asset.objects.create(namespace=namespace, name=name, kind="table", **more))


def test_an_asset_is_found_by_full_exact_and_ending_name() -> None:
    orders = asset("dev.analytics.orders")
    for name in ("duckdb://house/dev.analytics.orders", "dev.analytics.orders", "analytics.orders", " orders "):
        assert find_asset(name) == orders
    assert find_asset("Analytics.ORDERS") == orders


def test_the_exact_name_goes_before_an_ending() -> None:
    exact = asset("orders")
    asset("dev.analytics.orders")
    assert find_asset("orders") == exact


def test_the_exact_case_goes_before_another() -> None:
    asset("dev.Orders")
    lower = asset("dev.orders")
    assert find_asset("orders") == lower


def test_half_a_part_of_a_name_is_no_ending() -> None:
    asset("dev.big_orders")
    with pytest.raises(NotFound):
        find_asset("orders")


def test_an_ambiguous_name_lists_what_it_may_mean() -> None:
    asset("a.orders")
    asset("b.orders")
    with pytest.raises(BadInput, match=r"orders is ambiguous: a\.orders, b\.orders\."):
        find_asset("orders")


def test_the_same_name_in_two_namespaces_is_listed_with_them() -> None:
    asset("a.orders", "one://x")
    second = asset("a.orders", "two://x")
    with pytest.raises(BadInput, match=r"one://x/a\.orders, two://x/a\.orders"):
        find_asset("a.orders")
    assert find_asset("two://x/a.orders") == second


def test_a_slash_in_a_name_is_no_namespace() -> None:
    board = asset("Orders / week", "declared://readers")
    assert find_asset("Orders / week") == board
    assert find_asset("declared://readers/Orders / week") == board


def test_an_unknown_name_is_an_error_with_near_names(machine: Actor) -> None:
    import_manifest(shop(), actor=machine)
    with pytest.raises(NotFound, match=r"No asset is named oders; near it are dev\.main\.orders, dev\.raw\.orders\."):
        find_asset("oders")


def test_what_no_source_ever_claimed_is_not_known_and_is_never_no_impact(machine: Actor) -> None:
    import_manifest(shop(), actor=machine)
    left = Asset.objects.create(namespace="duckdb://house", name="main.oders", kind="table")
    with pytest.raises(NotFound, match=r"No asset is named oders; near it are dev\.main\.orders"):
        find_asset("oders")
    assert {str(one) for one in find_each(["oders", *"abcdef"]).values()} >= {"No asset is named oders."}
    for ask in (version_for, ancestors, descendants):
        with pytest.raises(NotFound, match=r"No source ever claimed main\.oders"):
            ask(left)
    with pytest.raises(NotFound, match=r"No source ever claimed main\.oders"):
        reach(left, at=now())
    with pytest.raises(NotFound, match=r"No source ever claimed main\.oders"):
        page(left, direction="down", at=now())


def test_an_asset_that_an_edge_alone_claims_is_known(machine: Actor) -> None:
    import_manifest(shop(), actor=machine)
    above = Asset.objects.create(namespace="duckdb://house", name="a_feed", kind="table")
    below, version = find_asset("dev.main.orders"), GraphVersion.objects.latest("number")
    EdgeClaim.objects.create(source=version.source, from_asset=above, to_asset=below, added_in=version)
    assert find_asset("a_feed") == above
    assert version_for(above) == version.number


def test_every_view_asks_the_same_owner_first(owner: Person, teammate: Person) -> None:
    rows, at = Rows(), now()
    rows.version([("orders", "board")])
    orders, board = rows.assets["orders"], rows.reader("board").asset
    domain = Domain.objects.create(key="sales", name="Sales", owner=owner, on_call=owner)
    Asset.objects.filter(pk=board.pk).update(domain=domain)
    board.refresh_from_db()

    def shown() -> tuple[object, ...]:
        (row,) = page(orders, direction="down", at=at).rows
        (reader,) = reach(orders, at=at).consumers
        (line,) = register(at, baselines=lambda ids: ids).rows
        (asked,) = people(board, "owner")
        found = answering([board])[board.pk]["owner"]
        listed = line.people["owner"][0]
        assert {row.owner, reader["owner"]["name"], listed} == {display_name(asked.principal)}
        assert found == asked
        return line.people["owner"]

    assert shown() == ("Olive Owner",)
    AssetRole.objects.create(asset=board, label="Data team", role="owner", source="declared")
    assert shown() == ("Olive Owner", "Data team")
    AssetRole.objects.create(asset=board, person=teammate, role="owner", source="dbt:rows")
    assert shown() == ("Tom Teammate", "Data team")
    assert [one.pk for one in people(board, "on_call")] == [owner.pk]


def test_what_is_only_appended_needs_no_delete_rule() -> None:
    rows = Rows()
    rows.version([("orders", "copy"), ("orders", "mirror")])
    rows.reader("copy", tool="copier", mode="append")
    rows.reader("mirror", tool="copier", mode="mirror")
    gaps = {row.asset.name: row.gaps for row in register(now(), baselines=lambda ids: ids).rows}
    assert {name: "no_delete_rule" in found for name, found in gaps.items()} == {"copy": False, "mirror": True}


@pytest.mark.parametrize("name", ["", "  ", "%", "_", "or\0ders", "x" * 5000, "'; drop table", "é" * 10])
def test_a_strange_name_is_refused_in_one_sentence(name: str) -> None:
    asset("dev.orders")
    with pytest.raises((BadInput, NotFound)) as refusal:
        find_asset(name)
    assert len(str(refusal.value)) < 400
    assert str(refusal.value).isprintable()


def test_what_is_in_the_graph_goes_before_what_was(machine: Actor) -> None:
    import_manifest(manifest([model("orders")]), namespace="duckdb://old", actor=machine)
    import_manifest(manifest([model("orders")]), namespace="duckdb://new", actor=machine)
    assert find_asset("orders").namespace == "duckdb://new"
    assert find_asset("duckdb://old/dev.main.orders").namespace == "duckdb://old"


def test_the_search_may_be_narrowed() -> None:
    first = asset("a.orders")
    asset("b.orders")
    assert find_asset("orders", among=Asset.objects.filter(pk=first.pk)) == first


def test_lineage_goes_both_ways(machine: Actor) -> None:
    import_manifest(shop(), actor=machine)
    orders = find_asset("main.orders")
    assert [(one.name, hops) for one, hops in ancestors(orders)] == [("dev.main.stg_orders", 1), ("dev.raw.orders", 2)]
    assert [(one.name, hops) for one, hops in descendants(orders)] == [
        ("dev.main.revenue", 1), ("exposure.shop.weekly_board", 2),
    ]  # fmt: skip


def test_a_node_is_found_within_its_project(machine: Actor) -> None:
    import_manifest(shop(), actor=machine)
    assert asset_of_node("model.shop.orders", "shop") == find_asset("main.orders")
    assert asset_of_node("model.shop.orders", "other") is None
    assert asset_of_node("model.shop.nothing") is None


def test_a_removed_asset_answers_for_its_last_version(machine: Actor) -> None:
    import_manifest(shop(model("extra", "model.shop.orders")), actor=machine)
    import_manifest(shop(), actor=machine)
    extra = find_asset("extra")
    assert version_for(extra) == 1
    assert ancestors(extra)[0][0].name == "dev.main.orders"
    assert relation(extra) is None


def test_people_come_from_the_asset_then_from_its_domain(owner: Person, teammate: Person, person: Actor) -> None:
    domain = Domain.objects.create(key="shop", name="Shop", owner=owner, on_call=owner)
    orders = asset("orders", domain=domain)
    assert people(orders, "owner") == [owner]
    AssetRole.objects.create(asset=orders, person=teammate, role="owner")
    assert people(orders, "owner") == [teammate]
    assert people(orders, "on_call") == [owner]
    assert people(orders, "operator") == []
    deactivate(teammate, actor=person)
    assert people(orders, "owner") == [owner]


def test_a_warehouse_is_found_by_the_namespace(machine: Actor) -> None:
    orders = asset("orders")
    with pytest.raises(Unavailable, match="No connection reads duckdb://house"):
        open_for(orders)
    connections.save(
        "house", kind="duckdb", purpose="read", namespace="duckdb://house",
        params={"path": "/nowhere.duckdb"}, secret_names=[], actor=machine,
    )  # fmt: skip
    assert open_for(orders).dialect == "duckdb"
    assert open_for("duckdb://house").dialect == "duckdb"


def test_a_declared_reader_is_in_the_graph(machine: Actor) -> None:
    declare({"consumers": [{"asset": "Board", "kind": "dashboard"}]}, actor=machine)
    assert Asset.objects.present().get().name == "Board"
