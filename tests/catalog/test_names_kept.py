"""What comes later takes no name away: not an agent's suggestion, not a table elsewhere, not who may not read it."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.declared_readers import NAMESPACE, unmatched
from catalog.graph.adjacency import adjacency
from catalog.models import Asset, Consumer, Domain
from catalog.names import find_asset, find_each
from catalog.services import lineage_events
from catalog.services.declare import declare
from catalog.services.imports import import_manifest
from foundation.audit import Actor
from foundation.errors import BadInput
from foundation.people import create_agent, create_person
from tests.catalog.manifests import exposure, manifest, model, shop, source
from tests.catalog.openlineage import at, dataset, run_event

pytestmark = pytest.mark.django_db
SYNC: dict[str, Any] = {"asset": "Copy of orders", "kind": "sync", "tool": "copier", "reads": "main.orders"}


@pytest.fixture
def foreign_agent(db: None) -> Actor:
    """An agent of somebody who may not read what is restricted."""
    return Actor(create_agent("foreign", owner=create_person("stranger@example.com", "A stranger")), "api")


@pytest.fixture
def orders(machine: Actor, person: Actor) -> Asset:
    import_manifest(shop(), actor=machine)
    declare({"consumers": [SYNC]}, actor=person)
    return find_asset("main.orders")


def feeds(asset: Asset) -> set[str]:
    ids = adjacency().walk(asset.pk, "down").ids.tolist()
    return set(Asset.objects.filter(pk__in=ids).values_list("name", flat=True))


def test_a_suggested_reader_does_not_take_the_name_of_a_table(orders: Asset, machine: Actor, agent: Actor) -> None:
    declare({"consumers": [{"asset": "main.orders", "reads": "raw.orders"}, {"asset": "Orders"}]}, actor=agent)
    suggested = Consumer.objects.get(asset__name="main.orders")
    assert find_asset("main.orders") == orders
    assert set(find_each({"main.orders", "orders", "a", "b", "c", "d"}).values()) >= {orders}
    assert find_asset("declared://readers/main.orders") == suggested.asset
    import_manifest(shop(model("more")), actor=machine)
    assert "Copy of orders" in feeds(orders)


def test_a_suggested_reader_is_found_where_nothing_else_has_its_name(orders: Asset, agent: Actor) -> None:
    declare({"consumers": [{"asset": "Nightly", "reads": "main.orders"}]}, actor=agent)
    assert find_asset("nightly").name == "Nightly"


def test_a_declared_reader_does_not_take_the_name_of_a_table(orders: Asset, person: Actor) -> None:
    declare({"consumers": [{"asset": "main.orders", "kind": "dashboard"}]}, actor=person)
    declare({"consumers": [{"asset": "Board", "reads": "main.orders"}]}, actor=person)
    assert find_asset("main.orders") == orders
    assert {"Board", "Copy of orders"} <= feeds(orders)
    assert find_asset("declared://readers/main.orders").kind == "dashboard"


def test_a_table_is_no_reader_because_an_agent_says_so(orders: Asset, agent: Actor) -> None:
    said = {"asset": orders.name, "namespace": orders.namespace, "mode": "append"}
    with pytest.raises(BadInput, match="is a model, not a reader"):
        declare({"consumers": [said]}, actor=agent)
    assert not Consumer.objects.filter(asset=orders).exists()


@pytest.mark.parametrize("who", ["event", "person"])
def test_a_reader_goes_on_reading_what_it_read(orders: Asset, machine: Actor, person: Actor, who: str) -> None:
    """Another thing with the exact name changes no edge, as long as what is read stands and has the name."""
    if who == "event":
        event = run_event("COMPLETE", at(1), outputs=[dataset("main.orders", "postgres://elsewhere:5432")])
        lineage_events.receive([event], actor=machine)
        assert lineage_events.process_due(10, actor=machine) == 1
    else:
        declare({"consumers": [{"asset": "main.orders", "kind": "dashboard"}]}, actor=person)
    import_manifest(shop(model("more")), actor=machine)
    assert "Copy of orders" in feeds(orders)


def test_an_event_does_not_say_what_people_declared(orders: Asset, machine: Actor) -> None:
    told = dataset("Copy of orders", NAMESPACE, documentation={"description": "Another word."})
    lineage_events.receive([run_event("COMPLETE", at(1), inputs=["raw.events"], outputs=[told])], actor=machine)
    assert lineage_events.process_due(10, actor=machine) == 1
    copy = Asset.objects.get(namespace=NAMESPACE)
    assert (copy.name, copy.kind, copy.description) == ("Copy of orders", "sync", "")


def test_a_table_that_moved_is_read_where_it_is_now(orders: Asset, machine: Actor) -> None:
    moved = model("orders", "source.shop.raw.orders", database="prod", relation_name='"prod"."main"."orders"')
    import_manifest(manifest([moved], sources=[source("orders")]), actor=machine)
    assert feeds(find_asset("prod.main.orders")) == {"Copy of orders"}
    assert "Copy of orders" not in feeds(orders)


@pytest.fixture
def hidden(machine: Actor, person: Actor) -> Asset:
    """A board of a restricted domain that dbt knows by its label."""
    import_manifest(pay(), actor=machine)
    declare(
        {
            "domains": [{"name": "Pay", "owner": "owner@example.com", "restricted": True}],
            "assets": [{"asset": "main.salaries", "domain": "Pay"}],
            "consumers": [{"asset": "Salary board", "domain": "Pay", "consequence": "All is known."}],
        },
        actor=machine,
    )
    return Asset.objects.get(name="exposure.shop.salaries")


def pay(*extra: tuple[str, Any]) -> bytes:
    board = exposure("salaries", "model.shop.salaries", label="Salary board")
    return manifest([model("salaries"), *extra], exposures=[board])


@pytest.mark.parametrize("agent_speaks", [True, False])
def test_nobody_takes_a_restricted_reader_by_its_label(
    hidden: Asset, machine: Actor, foreign_agent: Actor, agent_speaks: bool
) -> None:
    """Who may not read the name makes a reader of their own by it; what dbt knows stays where it is, and hidden."""
    owner = foreign_agent.principal.owner
    assert owner is not None
    speaks = foreign_agent if agent_speaks else Actor(owner.principal, "web")
    declare({"consumers": [{"asset": "Salary board"}]}, actor=speaks)
    import_manifest(pay(model("more")), actor=machine)
    assert feeds(find_asset("main.salaries")) == {hidden.name}
    assert hidden.domain == Domain.objects.get()


def test_a_name_out_of_sight_stays_unmatched_after_an_import(
    hidden: Asset, machine: Actor, foreign_agent: Actor, agent: Actor
) -> None:
    """Else whoever guesses names learns from the next import which of them are right."""
    declare({"consumers": [{"asset": "Spy", "reads": ["main.salaries", "main.more"]}]}, actor=foreign_agent)
    assert [one["name"] for one in unmatched()] == ["main.salaries", "main.more"]
    import_manifest(pay(model("more")), actor=machine)
    assert [one["name"] for one in unmatched()] == ["main.salaries"]
    assert "Spy" in feeds(find_asset("main.more"))


def test_what_became_restricted_is_read_on(orders: Asset, machine: Actor, foreign_agent: Actor) -> None:
    declare({"consumers": [{"asset": "Early", "reads": "main.orders"}]}, actor=foreign_agent)
    document = {"domains": [{"name": "Pay", "restricted": True}], "assets": [{"asset": "main.orders", "domain": "Pay"}]}
    declare(document, actor=machine)
    import_manifest(shop(model("more")), actor=machine)
    assert {"Early", "Copy of orders"} <= feeds(orders)
