"""What agents suggest counts as suggested until a person of the domain answers; who and when stays."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from django.db import connection

from catalog.graph import history
from catalog.graph.adjacency import adjacency
from catalog.graph.versions import head_version
from catalog.models import Asset, Consumer, Declaration, Definition, Domain, EdgeClaim, Note, SearchDue, Sync
from catalog.selectors import definition_of, definitions_of, find_asset
from catalog.services import definitions, notes, suggestions
from catalog.services.access import answered_by, answers_for, changed_by, may_change, speaks_for, spoken_for_by
from catalog.services.declare import declare
from catalog.services.graph_lock import hold_graph
from catalog.services.imports import import_manifest
from catalog.services.readers import withdraw
from foundation.audit import Actor
from foundation.errors import Conflict, NotAllowed, NotFound, SpellbookError
from foundation.locks import transaction
from foundation.models import AuditRow, Person
from foundation.people import create_agent, create_person, give_role, system
from tests.catalog.manifests import model, shop

pytestmark = pytest.mark.django_db
SYNC: dict[str, Any] = {
    "asset": "Copy of orders", "kind": "sync", "tool": "copier", "mode": "mirror",
    "delete_rule": "removes what is gone", "reads": "main.orders",
    "schedule": {"cron": "17 * * * *", "zone": "America/New_York"}, "contact": "#copies",
}  # fmt: skip


@pytest.fixture
def domain(machine: Actor, person: Actor, owner: Person, teammate: Person) -> Domain:
    import_manifest(shop(), actor=machine)
    declare(
        {
            "domains": [{"name": "sales", "owner": "owner@example.com", "on_call": "teammate@example.com"}],
            "assets": [{"asset": "main.orders", "domain": "sales"}],
        },
        actor=person,
    )
    return Domain.objects.get()


@pytest.fixture
def stranger(db: None) -> Actor:
    return Actor(create_person("stranger@example.com", "A stranger").principal, "web")


def reader() -> Consumer:
    return Consumer.objects.select_related("asset").get(asset__name="Copy of orders")


def feeds() -> set[str]:
    orders = find_asset("main.orders")
    ids = adjacency().walk(orders.pk, "down").ids.tolist()
    return set(Asset.objects.filter(pk__in=ids).values_list("name", flat=True))


@pytest.mark.usefixtures("domain")
def test_a_suggested_reader_counts_and_waits(agent: Actor) -> None:
    declare({"consumers": [SYNC]}, actor=agent)
    row = reader()
    assert (row.status, row.approved_by, row.suggested_by_id) == ("suggested", None, agent.principal.pk)
    assert row.suggested_at is not None
    assert "Copy of orders" in feeds()
    (one,) = suggestions.waiting()
    assert (one.kind, one.asset, one.by) == ("reader", row.asset, agent.principal)
    assert one.said["mode"] == "mirror"


@pytest.mark.usefixtures("domain")
def test_a_person_of_the_domain_approves_and_it_stays_known_who_suggested(agent: Actor, person: Actor) -> None:
    declare({"consumers": [SYNC]}, actor=agent)
    suggestions.approve(reader(), actor=person)
    row = reader()
    assert (row.status, row.approved_by, row.suggested_by_id) == (
        "standing", person.principal.person, agent.principal.pk,
    )  # fmt: skip
    assert row.approved_at is not None
    assert (row.sync.mode, row.cron, row.contact) == ("mirror", "17 * * * *", "#copies")
    edge = EdgeClaim.objects.get(to_asset=row.asset, removed_in__isnull=True)
    assert (edge.source.key, edge.from_asset) == ("declared", find_asset("main.orders"))
    assert AuditRow.objects.filter(action="suggestion.approved", principal=person.principal, refused=False).count() == 1
    assert suggestions.waiting() == []
    with pytest.raises(Conflict, match="does not wait"):
        suggestions.approve(reader(), actor=person)


@pytest.mark.usefixtures("domain")
def test_a_refused_reader_leaves_the_graph_and_stays_refused(agent: Actor, person: Actor) -> None:
    declare({"consumers": [SYNC]}, actor=agent)
    suggestions.refuse(reader(), actor=person, reason="no such sync")
    row = reader()
    assert (row.status, row.approved_by, row.suggested_by_id) == ("refused", None, agent.principal.pk)
    assert "Copy of orders" not in feeds()
    assert AuditRow.objects.filter(action="suggestion.refused").count() == 1
    assert suggestions.waiting() == []


@pytest.mark.usefixtures("domain")
def test_only_a_person_of_the_domain_answers(
    agent: Actor, machine: Actor, stranger: Actor, teammate: Person, owner: Person
) -> None:
    declare({"consumers": [SYNC]}, actor=agent)
    for nobody in (agent, machine, stranger):
        for answer in (suggestions.approve, suggestions.refuse):
            with pytest.raises(NotAllowed, match="person of the domain"):
                answer(reader(), actor=nobody)
    assert reader().status == "suggested"
    assert AuditRow.objects.filter(refused=True).count() == 6
    assert answers_for(teammate, reader().asset)
    give_role(stranger.principal.person, "steward", scope="domain:sales", actor=machine)
    suggestions.approve(reader(), actor=stranger)
    assert reader().approved_by == stranger.principal.person


@pytest.mark.usefixtures("domain")
def test_what_is_approved_is_what_was_seen(agent: Actor, person: Actor) -> None:
    declare({"consumers": [SYNC]}, actor=agent)
    (one,) = suggestions.waiting()
    declare({"consumers": [{**SYNC, "mode": "append"}]}, actor=agent)
    with pytest.raises(Conflict, match="changed since"):
        suggestions.approve(reader(), actor=person, seen=one.seen)
    assert reader().status == "suggested"


@pytest.mark.usefixtures("domain")
def test_an_agent_does_not_choose_who_answers(agent: Actor, stranger: Actor, machine: Actor) -> None:
    declare({"domains": [{"name": "elsewhere", "owner": "stranger@example.com"}]}, actor=machine)
    declare({"consumers": [{**SYNC, "domain": "elsewhere"}]}, actor=agent)
    with pytest.raises(NotAllowed):
        suggestions.approve(reader(), actor=stranger)


@pytest.mark.usefixtures("domain")
def test_a_suggestion_about_an_exposure_fills_what_nobody_said_and_goes_when_refused(
    agent: Actor, person: Actor
) -> None:
    board = find_asset("weekly_board")
    declare({"consumers": [{"asset": "weekly_board", "schedule": {"cron": "0 9 * * 1"}}]}, actor=agent)
    board.consumer.refresh_from_db()
    assert (board.consumer.status, board.consumer.cron) == ("suggested", "0 9 * * 1")
    declare({"assets": [{"asset": "weekly_board", "domain": "sales"}]}, actor=person)
    suggestions.refuse(board.consumer, actor=person)
    board.consumer.refresh_from_db()
    assert (board.consumer.status, board.consumer.cron) == ("standing", "")


@pytest.mark.usefixtures("domain")
def test_an_agent_with_namespaces_suggests_only_there(agent: Actor) -> None:
    agent.principal.namespaces = ["duckdb://other"]
    with pytest.raises(NotAllowed, match="may not write in duckdb://shop"):
        declare({"consumers": [SYNC]}, actor=agent)
    with pytest.raises(NotAllowed):
        declare({"notes": [{"asset": "main.orders", "text": "x"}]}, actor=agent)


@pytest.mark.usefixtures("domain")
def test_notes_and_definitions_of_agents_wait_too(agent: Actor, person: Actor, stranger: Actor) -> None:
    document = {
        "assets": [{"asset": "main.orders", "definition": "One row an order."}],
        "notes": [{"asset": "main.orders", "text": "Returns are negative."}],
    }
    report = declare(document, actor=agent)
    assert (report.definitions, report.notes) == (1, 1)
    assert declare(document, actor=agent).as_dict() | {"graph_version": 0} == declare({}, actor=agent).as_dict() | {
        "graph_version": 0
    }
    note, definition = Note.objects.get(), Definition.objects.get()
    assert (note.status, definition.status, definition.number) == ("suggested", "suggested", 1)
    assert definition_of(find_asset("main.orders")) is None
    with pytest.raises(NotAllowed):
        suggestions.approve(note, actor=stranger)
    suggestions.refuse(note, actor=person, reason="wrong")
    SearchDue.objects.all().delete()
    suggestions.approve(definition, actor=person)
    assert SearchDue.objects.filter(asset=definition.asset).exists()  # what it says is found by the search
    note.refresh_from_db()
    definition.refresh_from_db()
    assert (note.status, definition.status, definition.approved_by) == (
        "refused", "standing", person.principal.person,
    )  # fmt: skip
    assert declare({"notes": document["notes"]}, actor=agent).notes == 0  # what was refused is not suggested again


@pytest.mark.usefixtures("domain")
def test_definitions_have_numbers_authors_and_the_domains_approval(person: Actor, stranger: Actor) -> None:
    orders = find_asset("main.orders")
    first = definitions.define(orders, "One row an order.", actor=person)
    assert first is not None
    assert (first.number, first.status, first.approved_by) == (1, "standing", person.principal.person)
    assert definitions.define(orders, "One row an order.", actor=person) is None
    second = definitions.define(orders, "One row a line.", actor=stranger)
    assert second is not None
    assert (second.number, second.status, second.approved_by) == (2, "suggested", None)
    assert definition_of(orders) == first
    third = definitions.define(orders, "One row a paid order.", actor=person)
    with pytest.raises(Conflict, match="newer definition"):
        suggestions.approve(second, actor=person)
    again = definitions.define(orders, "One row an order.", actor=person)
    assert again is not None
    assert again.number == 4
    assert definition_of(orders) == again != third
    assert [row.number for row in definitions_of(orders)] == [4, 3, 2, 1]


@pytest.mark.usefixtures("domain")
def test_a_withdrawn_reader_closes_its_claims_and_can_come_back(person: Actor, agent: Actor, stranger: Actor) -> None:
    declare({"consumers": [{**SYNC, "domain": "sales", "operator": "owner@example.com"}]}, actor=person)
    row = reader()
    for nobody in (agent, stranger):
        with pytest.raises(NotAllowed):
            withdraw(row.asset, actor=nobody)
    withdraw(row.asset, actor=person, reason="turned off")
    row.refresh_from_db()
    assert row.status == "withdrawn"
    assert "Copy of orders" not in feeds()
    assert not Declaration.objects.filter(asset=row.asset).exists()
    assert not row.asset.roles.exists()
    with pytest.raises(Conflict):
        withdraw(row.asset, actor=person)
    declare({"consumers": [SYNC]}, actor=person)
    row.refresh_from_db()
    assert (row.status, row.approved_by) == ("standing", person.principal.person)
    assert "Copy of orders" in feeds()
    assert Sync.objects.count() == 1


@pytest.mark.usefixtures("domain")
def test_who_does_not_answer_for_a_reader_does_not_change_it(person: Actor, stranger: Actor, agent: Actor) -> None:
    declare({"consumers": [{**SYNC, "domain": "sales"}]}, actor=person)
    for document in (
        {"consumers": [{"asset": "Copy of orders", "mode": "append"}]},
        {"assets": [{"asset": "main.orders", "owner": "stranger@example.com"}]},
        {"domains": [{"name": "sales", "owner": "stranger@example.com"}]},
    ):
        with pytest.raises(NotAllowed):
            declare(document, actor=stranger)
    assert reader().sync.mode == "mirror"


def test_what_is_no_suggestion_is_not_found(db: None) -> None:
    for kind in ("reader", "note", "x"):
        with pytest.raises(NotFound):
            suggestions.find(kind, 1)


@pytest.mark.usefixtures("domain")
def test_the_operator_of_a_reader_may_describe_it_and_does_not_answer_for_its_domain(
    agent: Actor, person: Actor, stranger: Actor
) -> None:
    declare({"consumers": [SYNC]}, actor=agent)
    declare({"assets": [{"asset": "Copy of orders", "operator": "stranger@example.com"}]}, actor=person)
    declare({"consumers": [SYNC]}, actor=stranger)
    row = reader()
    assert (row.status, row.approved_by) == ("suggested", None)
    declare({"consumers": [SYNC]}, actor=person)
    row = reader()
    assert (row.status, row.approved_by) == ("standing", person.principal.person)


@pytest.mark.usefixtures("domain")
def test_a_person_who_says_a_part_of_a_suggestion_leaves_the_rest_waiting(agent: Actor, person: Actor) -> None:
    declare({"consumers": [SYNC]}, actor=agent)
    declare({"consumers": [{"asset": "Copy of orders", "mode": "append"}]}, actor=person)
    row = reader()
    assert (row.status, row.sync.mode, row.cron, row.approved_by) == ("suggested", "append", "17 * * * *", None)
    suggestions.approve(row, actor=person)
    row = reader()
    assert (row.status, row.sync.mode, row.cron) == ("standing", "mirror", "17 * * * *")


@pytest.mark.usefixtures("domain")
def test_who_does_not_answer_for_an_asset_neither_approves_nor_withdraws_its_notes(
    agent: Actor, person: Actor, stranger: Actor
) -> None:
    orders = find_asset("main.orders")
    suggested = notes.write(orders, "Returns are negative.", actor=agent)
    own = notes.write(orders, "A view of a stranger.", actor=stranger)
    assert suggested is not None
    assert own is not None
    with pytest.raises(NotAllowed, match="it waits: only a person of the domain"):
        notes.write(orders, " Returns are negative. ", actor=stranger)
    with pytest.raises(NotAllowed, match="Only a person of its domain"):
        notes.withdraw(suggested, actor=stranger)
    suggested.refresh_from_db()
    assert (suggested.status, suggested.approved_by) == ("suggested", None)
    suggestions.refuse(suggested, actor=person)
    with pytest.raises(NotAllowed, match="it was refused"):
        notes.write(orders, "Returns are negative.", actor=stranger)
    mine = notes.write(orders, "The owner's word.", actor=person)
    assert mine is not None
    with pytest.raises(NotAllowed):
        notes.withdraw(mine, actor=stranger)
    notes.withdraw(own, actor=stranger)
    assert dict(Note.objects.values_list("text", "status")) == {
        "Returns are negative.": "refused", "A view of a stranger.": "withdrawn", "The owner's word.": "standing",
    }  # fmt: skip
    refused = AuditRow.objects.filter(refused=True, principal=stranger.principal)
    assert sorted(refused.values_list("action", flat=True)) == ["note.withdrawn"] * 2 + ["note.written"] * 2


@pytest.mark.usefixtures("domain")
def test_an_agent_withdraws_its_suggestion_but_no_note_that_a_person_approved(agent: Actor, person: Actor) -> None:
    orders = find_asset("main.orders")
    first, second = (notes.write(orders, text, actor=agent) for text in ("one", "two"))
    assert first is not None
    assert second is not None
    approved = notes.write(orders, "one", actor=person)
    assert approved is not None
    assert (approved.pk, approved.status, approved.approved_by) == (first.pk, "standing", person.principal.person)
    with pytest.raises(NotAllowed):
        notes.withdraw(first, actor=agent)
    notes.withdraw(second, actor=agent)
    assert dict(Note.objects.values_list("text", "status")) == {"one": "standing", "two": "withdrawn"}


@pytest.mark.usefixtures("domain")
def test_an_answer_that_came_too_late_leaves_an_audit_row(agent: Actor, person: Actor) -> None:
    declare({"consumers": [SYNC]}, actor=agent)
    suggestions.approve(reader(), actor=person)
    for answer, action in ((suggestions.approve, "suggestion.approved"), (suggestions.refuse, "suggestion.refused")):
        with pytest.raises(Conflict):
            answer(reader(), actor=person)
        row = AuditRow.objects.get(action=action, refused=True)
        assert "does not wait any more" in row.detail.body["facts"]["why"]


@pytest.mark.usefixtures("domain")
def test_an_approval_is_one_version_in_which_nothing_goes(agent: Actor, person: Actor) -> None:
    declare({"consumers": [SYNC]}, actor=agent)
    before = head_version()
    suggestions.approve(reader(), actor=person)
    assert head_version() == before + 1
    row = history.version(before + 1)
    assert (row.who, row.version.added, row.version.changed, row.version.removed) == (person.principal, 0, 1, 0)
    assert [one.state for one in history.changes(before + 1).rows] != ["removed"]
    claim = reader().asset.claims.get(removed_in__isnull=True)
    assert (claim.source.key, claim.attributes["reads"], claim.attributes["unmatched"]) == (
        "declared", ["main.orders"], [],
    )  # fmt: skip
    assert "Copy of orders" in feeds()


@pytest.mark.usefixtures("domain")
def test_a_suggestion_that_names_no_table_takes_none_away(agent: Actor, person: Actor) -> None:
    declare({"consumers": [{**SYNC, "domain": "sales"}]}, actor=person)
    row = reader()
    Consumer.objects.filter(pk=row.pk).update(approved_by=None, approved_at=None)  # as a file of a repository leaves it
    declare({"consumers": [{"asset": "Copy of orders", "schedule": {"cron": "5 * * * *"}}]}, actor=agent)
    suggestions.approve(reader(), actor=person)
    assert reader().cron == "5 * * * *"
    assert "Copy of orders" in feeds()
    edge = EdgeClaim.objects.get(to_asset=row.asset, removed_in__isnull=True)
    assert (edge.source.key, edge.from_asset) == ("declared", find_asset("main.orders"))


@pytest.mark.usefixtures("domain")
def test_what_waits_says_what_its_names_mean_and_an_answer_names_that_too(
    agent: Actor, person: Actor, machine: Actor
) -> None:
    declare({"consumers": [{**SYNC, "reads": ["main.orders", "main.later"]}]}, actor=agent)
    (one,) = suggestions.waiting()
    assert (one.reads, one.unmatched) == ((find_asset("main.orders"),), ("main.later",))
    import_manifest(shop(model("later")), actor=machine)
    (later,) = suggestions.waiting()
    assert ({asset.name.rpartition(".")[2] for asset in later.reads}, later.unmatched) == ({"orders", "later"}, ())
    with pytest.raises(Conflict, match="changed since"):
        suggestions.approve(reader(), actor=person, seen=one.seen)
    suggestions.approve(reader(), actor=person, seen=later.seen)
    assert EdgeClaim.objects.filter(to_asset=reader().asset, removed_in__isnull=True).count() == 2


def test_an_approval_waits_for_who_holds_the_graph_before_it_takes_the_reader(committing: str) -> None:
    machine, owner = Actor(system("cli"), "cli"), create_person("owner@example.com", "Olive Owner")
    agent, person = Actor(create_agent("orchestrator", owner=owner), "api"), Actor(owner.principal, "web")
    import_manifest(shop(), actor=machine)
    declare({"domains": [{"name": "sales", "owner": "owner@example.com"}],
             "assets": [{"asset": "main.orders", "domain": "sales"}]}, actor=person)  # fmt: skip
    declare({"consumers": [SYNC]}, actor=agent)
    row, holding, failed = reader(), threading.Event(), []

    def unite() -> None:
        """As a worker that makes one asset of two: the graph first, then the rows of readers."""
        try:
            with transaction():
                hold_graph()
                holding.set()
                time.sleep(0.4)  # meanwhile the approval has begun
                Consumer.objects.filter(pk=row.pk).update(lead_seconds=61)
        except SpellbookError as error:
            failed.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=unite)
    thread.start()
    holding.wait(5)
    suggestions.approve(row, actor=person)
    thread.join()
    assert failed == []
    assert reader().status == "standing"


def test_who_answers_for_many_assets_is_asked_in_a_handful_of_queries(
    machine: Actor, owner: Person, teammate: Person, django_assert_max_num_queries: Any
) -> None:
    import_manifest(shop(), actor=machine)
    declare({"domains": [{"name": "sales", "owner": "owner@example.com"}],
             "assets": [{"asset": "main.orders", "domain": "sales"}]}, actor=machine)  # fmt: skip
    declare({"consumers": [{**SYNC, "asset": f"copy {n}"} for n in range(5)]}, actor=machine)
    listed = list(Asset.objects.select_related("domain"))
    with django_assert_max_num_queries(4):
        mine = answered_by(owner, listed)
    assert mine == {asset.pk for asset in listed if answers_for(owner, asset)} >= {find_asset("copy 3").pk}
    assert answered_by(teammate, listed) == set()
    plain = list(Asset.objects.all())
    for person in (owner, teammate):
        for many, one in ((changed_by, may_change), (spoken_for_by, speaks_for)):
            with django_assert_max_num_queries(6):
                mine = many(person, plain)
            assert mine == {asset.pk for asset in plain if one(person, asset)}
