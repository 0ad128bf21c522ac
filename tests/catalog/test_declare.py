"""What people declare: kept whole or not at all, twice the same as once, and suggestions when an agent declares."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalog.declared_readers import unmatched
from catalog.models import Asset, AssetRole, Consumer, Domain, EdgeClaim, GraphVersion, NodeClaim, Note, Sync
from catalog.selectors import find_asset, people
from catalog.services.declare import declare, prepare
from catalog.services.imports import import_manifest
from foundation.audit import Actor
from foundation.errors import BadInput, Conflict, NotAllowed
from foundation.models import AuditRow, Person
from tests.catalog.manifests import manifest, model, shop

pytestmark = pytest.mark.django_db
TABLES = (Asset, AssetRole, Consumer, Domain, EdgeClaim, GraphVersion, NodeClaim, Note, Sync, AuditRow)
SYNC: dict[str, Any] = {
    "asset": "Copy of orders",
    "kind": "sync",
    "tool": "copier",
    "mode": "mirror",
    "delete_rule": "removes what is gone",
    "reads": "main.orders",
    "schedule": {"cron": "17 * * * *", "zone": "America/New_York"},
    "consequence": "Rows that are gone here are removed there.",
}
DOCUMENT: dict[str, Any] = {
    "people": [{"email": "owner@example.com"}],
    "domains": [
        {"name": "Shop floor", "owner": "owner@example.com", "on_call": "teammate@example.com", "approver": "x"}
    ],
    "assets": [
        {"asset": "main.orders", "domain": "shop-floor", "owner": ["OWNER@example.com"], "watch": ["row_count"]}
    ],
    "consumers": [
        {**SYNC, "domain": "Shop floor", "operator": "teammate@example.com"},
        {
            "asset": "Board",
            "kind": "dashboard",
            "through": "Copy of orders",
            "confirm": {"metric": "total", "source": "main.revenue"},
        },
    ],
    "notes": [{"asset": "main.orders", "text": "Replicated every night."}],
}


def counts() -> list[int]:
    return [table._default_manager.count() for table in TABLES]


@pytest.fixture
def graph(machine: Actor, owner: Person, teammate: Person) -> None:
    import_manifest(shop(), actor=machine)


@pytest.mark.usefixtures("graph")
def test_a_whole_estate_is_declared(person: Actor, owner: Person, teammate: Person) -> None:
    report = declare(DOCUMENT, actor=person)
    assert report.as_dict() == {
        "graph_version": 2,
        "domains": ["shop-floor"],
        "assets": ["dev.main.orders"],
        "consumers": ["Copy of orders", "Board"],
        "notes": 1,
        "definitions": 0,
        "unmatched": [],
        "ignored": ["people", "domains.approver", "assets.watch"],
        "withdrawn": [],
    }
    orders, copy, board = (find_asset(name) for name in ("main.orders", "Copy of orders", "Board"))
    assert orders.domain is not None
    assert (orders.domain.owner, orders.domain.on_call) == (owner, teammate)
    assert (people(orders, "owner"), people(copy, "operator")) == ([owner], [teammate])
    assert (copy.consumer.sync.tool, copy.consumer.sync.mode) == ("copier", "mirror")
    assert copy.consumer.lead_seconds == 60
    assert (board.consumer.confirm_metric, board.consumer.confirm_source) == ("total", find_asset("main.revenue"))
    assert (board.consumer.approved_by, board.consumer.approved_at is None) == (owner, False)
    edges = EdgeClaim.objects.filter(source__key="declared").values_list("from_asset__name", "to_asset__name")
    assert set(edges) == {("dev.main.orders", "Copy of orders"), ("Copy of orders", "Board")}


@pytest.mark.usefixtures("graph")
def test_the_same_declaration_again_changes_nothing(person: Actor, machine: Actor) -> None:
    declare(DOCUMENT, actor=person)
    before = counts()
    again = declare(DOCUMENT, actor=person)
    assert (again.graph_version, again.domains, again.assets, again.consumers, again.notes) == (2, [], [], [], 0)
    declare(DOCUMENT, actor=machine)
    assert counts() == before
    assert Consumer.objects.filter(approved_by__isnull=True).count() == 1  # the exposure's


@pytest.mark.usefixtures("graph")
def test_a_reader_that_moves_to_another_table_leaves_the_first(person: Actor) -> None:
    declare(DOCUMENT, actor=person)
    report = declare({"consumers": [{**SYNC, "reads": "main.revenue"}]}, actor=person)
    assert (report.graph_version, report.consumers) == (3, ["Copy of orders"])
    open_edges = EdgeClaim.objects.filter(source__key="declared", removed_in__isnull=True)
    assert set(open_edges.values_list("from_asset__name", "to_asset__name")) == {
        ("dev.main.revenue", "Copy of orders"), ("Copy of orders", "Board"),
    }  # fmt: skip


@pytest.mark.usefixtures("graph")
def test_an_import_does_not_touch_what_people_declared(person: Actor, machine: Actor) -> None:
    declare(DOCUMENT, actor=person)
    import_manifest(manifest([model("other")]), actor=machine)
    assert Asset.objects.present().filter(name="Copy of orders").exists()
    assert Note.objects.count() == 1
    assert EdgeClaim.objects.filter(source__key="declared", removed_in__isnull=True).count() == 2


def test_an_unknown_table_is_listed_and_joined_when_it_comes(person: Actor, machine: Actor) -> None:
    document = {"consumers": [SYNC], "notes": [{"asset": "main.lost", "text": "x"}], "assets": [{"asset": "main.lost"}]}
    report = declare(document, actor=person)
    assert report.unmatched == [
        {"in": "assets", "name": "main.lost"},
        {"in": "notes", "name": "main.lost"},
        {"in": "Copy of orders", "name": "main.orders"},
    ]
    assert unmatched() == [{"in": "Copy of orders", "name": "main.orders"}]
    import_manifest(shop(), actor=machine)
    assert unmatched() == []
    assert EdgeClaim.objects.filter(source__key="declared").get().from_asset == find_asset("main.orders")


def test_a_reader_follows_its_table_to_another_namespace(person: Actor, machine: Actor) -> None:
    import_manifest(shop(), namespace="duckdb://old", actor=machine)
    declare({"consumers": [SYNC]}, actor=person)
    import_manifest(shop(), namespace="duckdb://new", actor=machine)
    edge = EdgeClaim.objects.get(source__key="declared", removed_in__isnull=True)
    assert edge.from_asset.namespace == "duckdb://new"
    assert unmatched() == []


def test_a_reader_whose_table_went_is_listed_and_keeps_its_edge(person: Actor, machine: Actor) -> None:
    import_manifest(shop(), actor=machine)
    declare({"consumers": [SYNC]}, actor=person)
    import_manifest(manifest([model("other")]), actor=machine)
    assert unmatched() == [{"in": "Copy of orders", "name": "main.orders"}]
    assert EdgeClaim.objects.filter(source__key="declared", removed_in__isnull=True).count() == 1


def test_a_name_that_became_ambiguous_keeps_its_edge(person: Actor, machine: Actor) -> None:
    import_manifest(shop(), actor=machine)
    declare({"consumers": [SYNC]}, actor=person)
    import_manifest(manifest([model("orders", package="b")], project="b"), namespace="duckdb://b", actor=machine)
    assert unmatched() == [{"in": "Copy of orders", "name": "main.orders"}]
    edge = EdgeClaim.objects.get(source__key="declared", removed_in__isnull=True)
    assert edge.from_asset.namespace == "duckdb://shop"


@pytest.mark.usefixtures("graph")
def test_a_dbt_exposure_and_a_declared_reader_of_that_name_are_one(person: Actor) -> None:
    declare({"consumers": [{"asset": "weekly_board", "schedule": {"cron": "0 9 * * 1"}}]}, actor=person)
    board = find_asset("weekly_board")
    assert (board.name, board.consumer.cron) == ("exposure.shop.weekly_board", "0 9 * * 1")
    assert {claim.source.key for claim in board.claims.all()} == {"dbt:shop", "declared"}


@pytest.mark.usefixtures("graph")
def test_what_an_agent_declares_is_a_suggestion_until_a_person_declares_it(agent: Actor, person: Actor) -> None:
    document = {"consumers": [SYNC], "notes": DOCUMENT["notes"]}
    declare(document, actor=agent)
    assert find_asset("Copy of orders").consumer.approved_by is None
    assert Note.objects.get().approved_by is None
    assert AuditRow.objects.filter(action="consumer.suggested").count() == 1
    declare(document, actor=person)
    assert find_asset("Copy of orders").consumer.approved_by is not None
    assert Note.objects.get().approved_by is not None


@pytest.mark.usefixtures("graph")
def test_an_agent_may_not_change_what_a_person_approved(agent: Actor, person: Actor) -> None:
    declare({"consumers": [SYNC]}, actor=person)
    declare({"consumers": [SYNC]}, actor=agent)
    before = counts()
    changes: list[dict[str, Any]] = [
        {"mode": "append"}, {"schedule": {}}, {"consequence": "none"}, {"reads": []}, {"reads": "revenue"},
    ]  # fmt: skip
    for change in changes:
        with pytest.raises(NotAllowed):
            declare({"consumers": [SYNC | change]}, actor=agent)
    assert counts() == before
    assert find_asset("Copy of orders").consumer.sync.mode == "mirror"


@pytest.mark.usefixtures("graph")
def test_an_agent_may_not_name_people_or_domains(agent: Actor) -> None:
    for section in ("domains", "assets"):
        with pytest.raises(NotAllowed):
            declare({section: DOCUMENT[section]}, actor=agent)
    with pytest.raises(NotAllowed):
        declare({"consumers": [{**SYNC, "operator": "owner@example.com"}]}, actor=agent)


@pytest.mark.usefixtures("graph")
def test_a_change_that_no_person_made_takes_the_approval_away(person: Actor, machine: Actor) -> None:
    declare({"consumers": [SYNC]}, actor=person)
    declare({"consumers": [{**SYNC, "mode": "append"}]}, actor=machine)
    assert find_asset("Copy of orders").consumer.approved_by is None


@pytest.mark.usefixtures("graph")
def test_a_role_that_is_named_is_replaced_and_another_stays(person: Actor, owner: Person, teammate: Person) -> None:
    declare(
        {"assets": [{"asset": "main.orders", "owner": "owner@example.com", "operator": "owner@example.com"}]},
        actor=person,
    )
    declare({"assets": [{"asset": "main.orders", "owner": "teammate@example.com"}]}, actor=person)
    orders = find_asset("main.orders")
    assert (people(orders, "owner"), people(orders, "operator")) == ([teammate], [owner])


@pytest.mark.usefixtures("graph")
@pytest.mark.parametrize(
    ("section", "entry", "why"),
    [
        ("consumers", {**SYNC, "mode": "backwards"}, "mode is one of"),
        ("consumers", {**SYNC, "schedule": {"cron": "every hour"}}, "five fields"),
        ("consumers", {**SYNC, "schedule": {"cron": "0 * * * *", "zone": "Mars/Olympus"}}, "no time zone"),
        ("consumers", {**SYNC, "schedule": "hourly"}, "schedule is not a mapping"),
        ("consumers", {"asset": "S", "kind": "sync"}, "names its tool"),
        ("consumers", {**SYNC, "operator": "nobody@example.com"}, "no active person"),
        ("consumers", {**SYNC, "reads": [1]}, "reads is neither"),
        ("consumers", {**SYNC, "reads": "orders"}, "ambiguous"),
        ("consumers", {**SYNC, "domain": "nowhere"}, "no domain nowhere"),
        ("consumers", {**SYNC, "lead_minutes": -1}, "lead_minutes"),
        ("consumers", {**SYNC, "lead_minutes": 1, "lead_seconds": 1}, "twice"),
        ("consumers", {**SYNC, "confirm": {"metric": "x"}}, "source"),
        ("consumers", {"kind": "report"}, "asset is not a text"),
        ("consumers", {**SYNC, "asset": "x" * 600}, "1 to 500"),
        ("domains", {"name": "!!!"}, "key"),
        ("domains", {"name": "a", "restricted": "yes"}, "restricted"),
        ("notes", {"asset": "main.orders"}, "text"),
        ("notes", "a note", "not a mapping"),
    ],
)
def test_an_unusable_entry_refuses_the_whole_declaration(section: str, entry: Any, why: str, person: Actor) -> None:
    before = counts()
    with pytest.raises(BadInput, match=why):
        declare({"domains": [{"name": "fine"}]} | {section: [entry]}, actor=person)
    assert counts() == before


@pytest.mark.usefixtures("graph")
def test_a_reader_of_a_hidden_domain_is_not_declared_over_by_who_cannot_see_it(
    person: Actor, teammate: Person, agent: Actor
) -> None:
    declare({"domains": [{"name": "Pay", "restricted": True}], "consumers": [SYNC]}, actor=person)
    Asset.objects.filter(name=SYNC["asset"]).update(domain=Domain.objects.get(key="pay"))
    before = counts()
    for actor in (Actor(teammate.principal, "web"), agent):
        with pytest.raises(Conflict, match="The name Copy of orders is taken"):
            declare({"consumers": [{**SYNC, "consequence": "Nothing at all."}]}, actor=actor)
    assert counts() == before
    assert Consumer.objects.get(asset__name=SYNC["asset"]).consequence == SYNC["consequence"]


@pytest.mark.parametrize("document", [[], "x", {"assets": "x"}, {"notes": {"asset": "a"}}])
def test_what_is_no_declaration_is_refused(document: Any, person: Actor) -> None:
    with pytest.raises(BadInput):
        declare(document, actor=person)


def test_the_example_estate_can_be_read(person: Actor, machine: Actor) -> None:
    for path in Path("examples").glob("*/estate.yml"):
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        del document["domains"], document["assets"]
        for entry in document["consumers"]:
            for key in ("domain", "owner", "operator", "business_owner", "tool_admin", "on_call"):
                entry.pop(key, None)
        report = declare(document, actor=person)
        assert report.consumers
        assert [key for key in report.ignored if key.startswith("consumers.")] == []


def test_who_may_change_what_is_asked_for_a_whole_declaration_at_once(
    person: Actor, machine: Actor, owner: Person
) -> None:
    names = [f"t{number:02}" for number in range(30)]
    import_manifest(manifest(model(name) for name in names), actor=machine)
    document = {"domains": [{"name": "sales", "owner": owner.email}]}
    assets = [{"asset": f"main.{name}", "domain": "sales"} for name in names]
    declare({**document, "assets": assets}, actor=person)
    asked = []
    for some in (assets[:10], assets):
        with CaptureQueriesContext(connection) as queries:
            prepare({"assets": some}, actor=person)
        asked.append(len(queries))
    assert asked[0] == asked[1]
