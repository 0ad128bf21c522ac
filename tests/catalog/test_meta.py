"""What dbt's meta declares, exposures and declared readers as one asset, and which source's word weighs more."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.models import Asset, Consumer, Declaration, Definition, Domain, EdgeClaim, Note
from catalog.selectors import find_asset, people
from catalog.services import readers, suggestions
from catalog.services.declare import declare
from catalog.services.imports import import_manifest
from catalog.services.meta import MetaEntry, declare_meta
from foundation.audit import Actor
from foundation.models import Person
from tests.catalog.manifests import exposure, manifest, model, shop

pytestmark = pytest.mark.django_db


@pytest.fixture
def graph(machine: Actor, owner: Person, teammate: Person) -> None:
    import_manifest(shop(), actor=machine)
    Domain.objects.create(key="sales", name="Sales", owner=owner)


def entry(name: str, said: Any, *, reader: bool = False) -> MetaEntry:
    return MetaEntry(name, find_asset(name).pk, reader, said)


@pytest.mark.usefixtures("graph")
def test_meta_of_a_model_names_its_domain_people_readers_and_notes(
    machine: Actor, owner: Person, django_assert_max_num_queries: Any
) -> None:
    said = {
        "domain": "Sales",
        "owner": "owner@example.com",
        "on_call": {"schedule": "primary rota"},
        "definition": "One row an order.",
        "notes": ["Returns are negative."],
        "consumers": [{"asset": "Nightly copy", "tool": "copier", "mode": "append"}],
    }
    assert declare_meta([entry("main.orders", said)], project="shop", actor=machine) == []
    orders, copy = find_asset("main.orders"), Consumer.objects.get(asset__name="Nightly copy")
    assert orders.domain == Domain.objects.get()
    assert people(orders, "owner") == [owner]
    assert set(orders.roles.values_list("role", "label", "source")) == {
        ("owner", "", "meta:shop"), ("on_call", "primary rota", "meta:shop"),
    }  # fmt: skip
    assert (copy.status, copy.origin, copy.sync.mode, copy.approved_by) == ("standing", "dbt", "append", None)
    edge = EdgeClaim.objects.get(to_asset=copy.asset, removed_in__isnull=True)
    assert (edge.from_asset, edge.source.key) == (orders, "meta:shop")
    assert (Note.objects.get().status, Definition.objects.get().status) == ("standing", "suggested")
    with django_assert_max_num_queries(30):
        assert declare_meta([entry("main.orders", said)], project="shop", actor=machine) == []
    assert Definition.objects.count() == 1


@pytest.mark.usefixtures("graph")
def test_what_meta_says_no_more_is_withdrawn(machine: Actor) -> None:
    said = {
        "domain": "sales",
        "owner": "owner@example.com",
        "notes": ["x"],
        "consumers": [{"asset": "Copy", "tool": "c"}],
    }
    declare_meta([entry("main.orders", said)], project="shop", actor=machine)
    declare_meta([entry("main.orders", {"notes": ["y"]})], project="shop", actor=machine)
    orders = find_asset("main.orders")
    assert (orders.domain, list(orders.roles.all())) == (None, [])
    assert dict(Note.objects.values_list("text", "status")) == {"x": "withdrawn", "y": "standing"}
    assert Consumer.objects.get(asset__name="Copy").status == "withdrawn"
    assert not EdgeClaim.objects.filter(source__key="meta:shop", removed_in__isnull=True).exists()
    declare_meta([], project="shop", actor=machine)
    assert not Declaration.objects.exists()


@pytest.mark.usefixtures("graph")
def test_one_bad_entry_is_a_warning_and_loses_no_other(machine: Actor) -> None:
    entries = [
        entry("main.orders", {"owner": 7}),
        entry("main.revenue", ["not a mapping"]),
        entry("weekly_board", {"schedule": {"cron": "0 9 * * 1", "zone": "Europe/Berlin"}}, reader=True),
        entry("main.stg_orders", {"domain": "nowhere", "owner": "someone.else@example.com", "colour": "red"}),
        MetaEntry("gone", 10**9, False, {"domain": "sales"}),
    ]
    warnings = declare_meta(entries, project="shop", actor=machine)
    assert {(one.node, one.reason.split(":")[1].strip()[:30]) for one in warnings} == {
        ("main.orders", "Entry 1 of assets (duckdb"), ("main.revenue", "it is not a mapping"),
        ("main.stg_orders", "colour means nothing here"), ("main.stg_orders", "there is no domain nowhere"),
    }  # fmt: skip
    assert find_asset("weekly_board").consumer.cron == "0 9 * * 1"
    staged = find_asset("main.stg_orders")
    assert list(staged.roles.values_list("label", flat=True)) == ["someone.else@example.com"]
    assert staged.domain is None


@pytest.mark.usefixtures("graph")
def test_people_go_before_meta_and_meta_comes_back_when_they_withdraw(machine: Actor, person: Actor) -> None:
    board = find_asset("weekly_board")
    said = {"schedule": {"cron": "0 9 * * 1"}, "consequence": "From dbt."}
    declare_meta([entry("weekly_board", said, reader=True)], project="shop", actor=machine)
    declare({"consumers": [{"asset": "weekly_board", "schedule": {"cron": "0 7 * * 1"}}]}, actor=person)
    board.consumer.refresh_from_db()
    assert (board.consumer.cron, board.consumer.consequence) == ("0 7 * * 1", "From dbt.")
    approved = board.consumer.approved_at
    assert approved is not None
    later = {**said, "consequence": "From dbt, later.", "schedule": {"cron": "0 8 * * 1"}}
    declare_meta([entry("weekly_board", later, reader=True)], project="shop", actor=machine)
    board.consumer.refresh_from_db()
    assert (board.consumer.cron, board.consumer.consequence) == ("0 7 * * 1", "From dbt, later.")
    assert board.consumer.approved_at != approved  # what the person approved is not what it says now
    readers.withdraw(board, actor=person)
    board.consumer.refresh_from_db()
    assert (board.consumer.cron, board.consumer.status) == ("0 8 * * 1", "standing")


@pytest.mark.usefixtures("graph")
def test_a_suggestion_fills_what_meta_leaves_unsaid_and_overrides_nothing(machine: Actor, agent: Actor) -> None:
    board = find_asset("weekly_board")
    declare_meta(
        [entry("weekly_board", {"schedule": {"cron": "0 9 * * 1"}}, reader=True)], project="shop", actor=machine
    )
    said = {"asset": "weekly_board", "schedule": {"cron": "0 5 * * *"}, "consequence": "The meeting reads it."}
    declare({"consumers": [said]}, actor=agent)
    board.consumer.refresh_from_db()
    assert (board.consumer.status, board.consumer.cron) == ("suggested", "0 9 * * 1")
    assert board.consumer.consequence == "The meeting reads it."
    assert [one.kind for one in suggestions.waiting()] == ["reader"]


def labelled(*extra: Any) -> bytes:
    board = exposure("weekly_board", "model.shop.orders", label="The Weekly Board")
    return manifest([model("orders"), *extra], exposures=[board])


@pytest.mark.parametrize("name", ["weekly_board", "WEEKLY_BOARD", "the weekly board", "exposure.shop.weekly_board"])
def test_a_declared_reader_that_comes_after_the_exposure_is_the_exposure(
    name: str, machine: Actor, person: Actor
) -> None:
    import_manifest(labelled(), actor=machine)
    declare({"consumers": [{"asset": name, "schedule": {"cron": "0 9 * * 1"}}]}, actor=person)
    assert Consumer.objects.get().asset.name == "exposure.shop.weekly_board"


@pytest.mark.parametrize("name", ["weekly_board", "Weekly_Board", "the weekly board"])
def test_an_exposure_that_comes_after_the_declared_reader_is_that_reader(
    name: str, machine: Actor, person: Actor
) -> None:
    declare({"consumers": [{"asset": name, "reads": "main.orders"}]}, actor=person)
    import_manifest(labelled(), actor=machine)
    import_manifest(labelled(model("more")), actor=machine)
    reader = Consumer.objects.get()
    assert reader.asset.name == name
    assert {claim.source.key for claim in reader.asset.claims.filter(removed_in__isnull=True)} == {
        "dbt:shop", "declared",
    }  # fmt: skip
    assert Asset.objects.present().count() == 3


def test_two_exposures_of_one_name_are_told_apart(machine: Actor, person: Actor) -> None:
    import_manifest(labelled(), actor=machine)
    other = exposure("weekly_board", "model.b.x", package="b", label="The weekly board")
    import_manifest(manifest([model("x", package="b")], exposures=[other], project="b"), actor=machine)
    with pytest.raises(Exception, match="ambiguous"):
        declare({"consumers": [{"asset": "weekly_board"}]}, actor=person)
    with pytest.raises(Exception, match="Several exposures"):
        declare({"consumers": [{"asset": "The weekly board"}]}, actor=person)
    assert Consumer.objects.count() == 2


def test_an_import_reads_the_meta_of_nodes_and_exposures(machine: Actor) -> None:
    said = {"spellbook": {"consumers": [{"asset": "Nightly copy", "tool": "copier", "mode": "append"}], "owner": 7}}
    times = {"spellbook": {"schedule": {"cron": "0 9 * * 1"}, "contact": "#board"}}
    orders = model("orders", meta={"spellbook": {"consumers": said["spellbook"]["consumers"]}})
    board = exposure("weekly_board", "model.shop.orders", meta=times)
    import_manifest(manifest([orders, model("bad", meta=said)], exposures=[board]), actor=machine)
    row = find_asset("weekly_board").consumer
    assert (row.cron, row.contact, row.origin) == ("0 9 * * 1", "#board", "dbt")
    assert Consumer.objects.get(asset__name="Nightly copy").sync.mode == "append"
    report = import_manifest(manifest([orders, model("bad", meta=said)]), actor=machine)
    assert any("meta.spellbook" in one.reason for one in report.warnings)


@pytest.mark.usefixtures("graph")
def test_what_an_agent_brings_is_its_suggestion_and_weakens_nothing(agent: Actor, machine: Actor) -> None:
    said = {"domain": "sales", "notes": ["Returns are negative."], "consumers": [{"asset": "Copy", "tool": "copier"}]}
    declare_meta([entry("main.orders", said)], project="shop", actor=machine)
    brought = {
        "domain": "sales", "owner": "owner@example.com", "definition": "One row an order.",
        "notes": ["Returns are negative.", "An agent was here."], "consumers": [{"asset": "Other", "tool": "copier"}],
    }  # fmt: skip
    bad = entry("main.revenue", {"consumers": [{"asset": "x", "mode": "backwards"}]})
    lost = entry("main.stg_orders", {"consumers": [{"asset": "Third", "tool": "t", "reads": "orders"}]})
    warnings = declare_meta([entry("main.orders", brought), bad, lost], project="shop", actor=agent)
    assert {(one.node, one.reason.partition(": ")[2][:24]) for one in warnings} == {
        ("main.orders", "domain, owner left out, "), ("main.revenue", "Entry 1 of consumers (x)"),
        ("main.stg_orders", "The name orders is ambig"),
    }  # fmt: skip
    status = dict(Consumer.objects.values_list("asset__name", "status"))
    assert (status["Copy"], status["Other"], "Third" in status) == ("standing", "suggested", False)
    assert dict(Note.objects.values_list("text", "status")) == {
        "Returns are negative.": "standing", "An agent was here.": "suggested",
    }  # fmt: skip
    assert Definition.objects.get().author == agent.principal
    assert find_asset("main.orders").domain == Domain.objects.get()
    assert not find_asset("main.orders").roles.exists()
    declare_meta([], project="shop", actor=agent)
    assert Consumer.objects.get(asset__name="Copy").status == "standing"


def test_the_meta_of_a_manifest_that_an_agent_imports_waits(agent: Actor) -> None:
    said = {"spellbook": {"consumers": [{"asset": "Nightly copy", "tool": "copier", "mode": "append"}]}}
    import_manifest(manifest([model("orders", meta=said)]), actor=agent)
    row = Consumer.objects.get(asset__name="Nightly copy")
    assert (row.status, row.suggested_by) == ("suggested", agent.principal)
    assert Declaration.objects.get().source.key == "suggested"
