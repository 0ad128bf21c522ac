"""The register of readers and the forms: what is missing is counted, and what people declare there is kept."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from catalog.models import Asset, Consumer, Definition, Domain, Note
from catalog.selectors import find_asset, people
from catalog.services.declare import declare
from catalog.services.imports import import_manifest
from foundation.audit import Actor
from foundation.models import Person
from foundation.people import create_agent, create_person, system
from incidents.services.record import record
from spellbook.pages.waiting import waiting
from spellbook.sight import Sight
from tests.catalog.manifests import shop
from tests.spellbook.page_data import HOSTILE

pytestmark = pytest.mark.django_db
FORM = {
    "name": "Copy of orders", "kind": "sync", "tool": "copier", "mode": "mirror", "reads": "main.orders\r\nmain.lost",
    "when": "cron", "cron": "17 * * * *", "zone": "Europe/Berlin", "lead_minutes": "5", "domain": "sales",
    "operator": "owner@example.com", "on_call": "primary rota", "contact": "#copies",
    "consequence": "Rows that are gone here are removed there.",
}  # fmt: skip


@pytest.fixture
def cast() -> dict[str, Person]:
    names = ("owner", "teammate", "stranger")
    found = {name: create_person(f"{name}@example.com", f"The {name}") for name in names}
    machine = Actor(system("cli"), "cli")
    import_manifest(shop(), actor=machine)
    document = {
        "domains": [{"name": "sales", "owner": "owner@example.com"}],
        "assets": [{"asset": "main.orders", "domain": "sales"}],
    }
    declare(document, actor=machine)
    return found


def client(person: Person) -> Client:
    found = Client()
    found.force_login(person)
    return found


def agent(cast: dict[str, Person]) -> Actor:
    return Actor(create_agent("scout", owner=cast["teammate"]), "mcp")


def text(answer: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def reader() -> Consumer:
    return Consumer.objects.select_related("asset", "sync").get(asset__name="Copy of orders")


def test_a_reader_is_declared_in_the_form_and_shown_with_what_is_missing(cast: dict[str, Person]) -> None:
    web = client(cast["owner"])
    answer = web.post("/readers/new/declare", FORM)
    row = reader()
    assert (answer.status_code, answer["Location"]) == (302, f"/readers/{row.asset.pk}")
    assert (row.cron, row.zone, row.lead_seconds, row.sync.mode, row.contact) == (
        "17 * * * *", "Europe/Berlin", 300, "mirror", "#copies",
    )  # fmt: skip
    assert (row.status, row.approved_by, people(row.asset, "operator")) == ("standing", cast["owner"], [cast["owner"]])
    assert list(row.asset.roles.filter(role="on_call").values_list("label", flat=True)) == ["primary rota"]
    page = text(web.get("/readers"))
    assert "2 of 2 readers" in page
    assert "nobody said what it deletes, so it counts as the worst" in page
    assert "main.lost is not known" in page
    assert "a table that it reads has no baseline" in page
    assert "Nobody knows main.lost yet" in page  # what the form said, shown once


def test_the_form_shows_what_stands_and_changes_only_what_was_changed(cast: dict[str, Person]) -> None:
    web = client(cast["owner"])
    web.post("/readers/new/declare", FORM)
    pk = reader().asset.pk
    page = web.get(f"/readers/{pk}").content.decode()
    seen = re.search(r'name="seen" value="([0-9a-f]+)"', page)
    assert seen is not None
    changed = FORM | {"seen": seen[1], "delete_rule": "removes what is gone", "lead_minutes": "5"}
    assert web.post(f"/readers/{pk}/declare", changed).status_code == 302
    assert (reader().sync.delete_rule, reader().sync.mode) == ("removes what is gone", "mirror")
    stale = web.post(f"/readers/{pk}/declare", changed | {"mode": "append"})
    assert stale.status_code == 409
    assert "changed since you opened this form" in text(stale)
    assert "selected>append" in stale.content.decode()  # what was typed is kept
    assert reader().sync.mode == "mirror"


def test_an_unusable_form_says_why_and_keeps_what_was_typed(cast: dict[str, Person]) -> None:
    web = client(cast["owner"])
    for change, why in (
        ({"cron": "every hour"}, "five fields"),
        ({"zone": "Mars/Olympus"}, "no time zone"),
        ({"operator": "nobody@example.com"}, "no active person"),
        ({"lead_minutes": "soon"}, "number from 0"),
        ({"domain": "nowhere"}, "no domain nowhere"),
        ({"name": ""}, "Name: it is not a text of 1 to 500"),
        ({"tool": "", "kind": "sync"}, "A sync names its tool"),
        ({"zone": "Mars/Olympus"}, "When it reads: There is no time zone"),
        ({"delete_rule": "x" * 400}, "What it deletes in the tool: it is not a text of 1 to 300"),
        ({"reads": "x" * 900}, "Reads: it is a name on each line, and one of these is too long"),
        ({"reads": "x\n" * 2100}, "Reads: it has more than 4000"),
        ({"owner": "x" * 300}, "Owner: a name is not a text of 1 to 200"),
        ({"metric": "rows", "source": ""}, "Of the table: it is not a text"),
        ({"kind": "model"}, "a table and no reader"),
        ({"when": "cron", "cron": ""}, "cron line of five fields"),
    ):
        answer = web.post("/readers/new/declare", FORM | change)
        assert (answer.status_code, why in text(answer)) == (422, True), (change, text(answer)[:600])
        assert "Rows that are gone here are removed there." in text(answer)
        assert not re.search(r"Entry \d|consumers|lead_seconds|delete_rule", text(answer))
    assert not Consumer.objects.filter(asset__name="Copy of orders").exists()


def test_the_people_of_a_table_are_refused_in_the_words_of_their_form(cast: dict[str, Person]) -> None:
    web, address = client(cast["owner"]), f"/assets/{find_asset('main.orders').pk}/people"
    for form, why in (
        ({"owner": "x" * 300}, "Owner: a name is not a text of 1 to 200 characters."),
        ({"on_call": "x" * 4100}, "On call: it has more than 4000 characters."),
        ({"tool_admin": "@" * 300}, "Tool admin: it is neither an e-mail nor the name of a schedule or team."),
    ):
        answer = web.post(address, form)
        assert (answer.status_code, why in text(answer)) == (422, True), text(answer)[:400]
        assert b'href="/assets/%d/declare">Go back' % find_asset("main.orders").pk in answer.content


def test_a_name_that_a_reader_has_is_refused(cast: dict[str, Person]) -> None:
    web = client(cast["owner"])
    web.post("/readers/new/declare", FORM)
    again = web.post("/readers/new/declare", FORM | {"mode": "append"})
    assert (again.status_code, "a reader Copy of orders already" in text(again)) == (409, True)


def test_a_stranger_reads_and_does_not_change_or_withdraw(cast: dict[str, Person]) -> None:
    client(cast["owner"]).post("/readers/new/declare", FORM)
    pk, web = reader().asset.pk, client(cast["stranger"])
    page = web.get(f"/readers/{pk}")
    assert "Only a person of its domain" in text(page)
    assert b'<form method="post" action="/readers' not in page.content
    owner = client(cast["owner"]).get(f"/readers/{pk}").content.decode()
    seen = re.search(r'name="seen" value="([0-9a-f]+)"', owner)
    assert seen is not None
    assert web.post(f"/readers/{pk}/declare", FORM | {"seen": seen[1], "mode": "append"}).status_code == 403
    assert web.post(f"/readers/{pk}/withdraw", {"reason": "x"}).status_code == 403
    assert (
        web.post(f"/assets/{find_asset('main.orders').pk}/people", {"owner": "stranger@example.com"}).status_code == 403
    )
    assert (reader().sync.mode, reader().status) == ("mirror", "standing")


def test_a_withdrawn_reader_leaves_the_register(cast: dict[str, Person]) -> None:
    web = client(cast["owner"])
    web.post("/readers/new/declare", FORM)
    pk = reader().asset.pk
    assert web.post(f"/readers/{pk}/withdraw", {"reason": ""}).status_code == 422
    assert web.post(f"/readers/{pk}/withdraw", {"reason": "turned off"}).status_code == 302
    assert "1 of 1 reader" in text(web.get("/readers"))
    assert "withdrew the reader Copy of orders: turned off" in text(web.get(f"/readers/{pk}"))


def test_a_suggestion_is_answered_on_the_page_by_a_person_of_the_domain(cast: dict[str, Person]) -> None:
    said = {"asset": "Copy of orders", "tool": "copier", "reads": "main.orders", "consequence": HOSTILE}
    declare({"consumers": [said], "notes": [{"asset": "main.orders", "text": HOSTILE}]}, actor=agent(cast))
    web, stranger = client(cast["owner"]), client(cast["stranger"])
    page = web.get("/readers")
    assert b"<script>alert" not in page.content
    assert "Waiting for an answer (2)" in text(page)
    seen = dict(re.findall(r'action="/suggestions/(\w+)/\d+".*?name="seen" value="([0-9a-f]+)"', page.content.decode()))
    address = f"/suggestions/reader/{reader().pk}"
    assert b"/suggestions/reader" not in stranger.get("/readers").content
    assert stranger.post(address, {"answer": "approve", "seen": seen["reader"]}).status_code == 403
    assert web.post(address, {"answer": "approve"}).status_code == 422
    assert web.post(address, {"answer": "perhaps", "seen": seen["reader"]}).status_code == 422
    assert web.post(address, {"answer": "approve", "seen": seen["reader"]}).status_code == 302
    assert web.post(address, {"answer": "approve", "seen": seen["reader"]}).status_code == 409
    assert (reader().status, reader().approved_by) == ("standing", cast["owner"])
    note = Note.objects.get()
    refuse = {"answer": "refuse", "seen": seen["note"], "reason": "wrong"}
    assert web.post(f"/suggestions/note/{note.pk}", refuse).status_code == 302
    note.refresh_from_db()
    assert note.status == "refused"
    shown = text(web.get(f"/readers/{reader().asset.pk}"))
    assert "by scout" in shown
    assert "by The owner" in shown


def test_whoever_keeps_the_form_of_a_suggested_reader_says_all_of_it(cast: dict[str, Person]) -> None:
    said = {"asset": "Copy of orders", "tool": "copier", "reads": "main.orders", "schedule": {"cron": "0 2 * * *"}}
    declare({"consumers": [said]}, actor=agent(cast))
    web, pk = client(cast["owner"]), reader().asset.pk
    page = web.get(f"/readers/{pk}").content.decode()
    seen = re.search(r'<form[^>]*action="/readers/\d+/declare".*?name="seen" value="([0-9a-f]+)"', page, re.DOTALL)
    assert seen is not None
    form = {"kind": "sync", "tool": "copier", "reads": "main.orders", "when": "cron", "cron": "0 2 * * *"}
    assert web.post(f"/readers/{pk}/declare", form | {"seen": seen[1], "mode": "full"}).status_code == 302
    row = reader()
    assert (row.status, row.approved_by, row.cron, row.sync.mode) == ("standing", cast["owner"], "0 2 * * *", "full")
    assert "Waiting for an answer" not in text(web.get("/readers"))


def test_definition_note_and_people_of_a_table(cast: dict[str, Person]) -> None:
    orders, web = find_asset("main.orders"), client(cast["owner"])
    assert web.get(f"/assets/{orders.pk}/declare").status_code == 200
    assert web.post(f"/assets/{orders.pk}/definition", {"text": "One row an order."}).status_code == 302
    assert web.post(f"/assets/{orders.pk}/note", {"text": "Returns are negative."}).status_code == 302
    people_form = {"domain": "sales", "owner": "teammate@example.com", "on_call": "primary rota", "operator": ""}
    assert web.post(f"/assets/{orders.pk}/people", people_form).status_code == 302
    orders.refresh_from_db()
    assert (people(orders, "owner"), orders.domain) == ([cast["teammate"]], Domain.objects.get())
    assert Definition.objects.get().status == "standing"
    stranger = client(cast["stranger"])
    assert stranger.post(f"/assets/{orders.pk}/definition", {"text": "Something else."}).status_code == 302
    shown = text(web.get(f"/assets/{orders.pk}/declare"))
    assert "One row an order." in shown
    assert "Suggested" in shown
    for name in ("definition", "note"):
        for unusable in ("", "x" * 10_001):
            assert web.post(f"/assets/{orders.pk}/{name}", {"text": unusable}).status_code == 422


def test_the_register_is_filtered_sorted_and_exported_with_the_same_totals(cast: dict[str, Person]) -> None:
    web = client(cast["owner"])
    web.post("/readers/new/declare", FORM | {"reads": "main.orders", "name": "=Copy of orders"})
    for night in range(5):
        record(
            find_asset("main.orders"), "row_count", 100 + night, actor=Actor(system("x"), "cli"), build_key=f"b{night}"
        )
    assert "1 of 2 readers" in text(web.get("/readers?syncs=1"))
    assert "=Copy of orders" not in text(web.get("/readers?gap=no_baseline"))
    assert "=Copy of orders" in text(web.get("/readers?gap=no_delete_rule"))
    assert 'aria-sort="descending"' in web.get("/readers?order=name&descending=1").content.decode()
    rows = list(csv.DictReader(io.StringIO(web.get("/readers.csv").content.decode())))
    data = web.get("/readers.json").json()
    assert len(rows) == data["total"] == len(data["readers"]) == 2
    mine = next(row for row in rows if row["kind"] == "sync")
    assert (mine["name"], mine["operator"], mine["gaps"]) == ("'=Copy of orders", "The owner", "no_delete_rule")
    assert len(web.get("/readers.csv?gap=no_delete_rule").content.decode().strip().splitlines()) == 2


def test_names_of_a_restricted_domain_are_hidden_and_counts_are_not(cast: dict[str, Person]) -> None:
    client(cast["owner"]).post("/readers/new/declare", FORM)
    Domain.objects.update(restricted=True)
    web = client(cast["stranger"])
    page = text(web.get("/readers"))
    assert "2 of 2 readers" in page
    assert "a sync of a restricted domain" in page
    exports = web.get("/readers.csv").content.decode() + web.get("/readers.json").content.decode()
    for hidden in ("Copy of orders", "main.orders", "main.lost", "copier", "#copies"):
        assert hidden not in page, hidden
        assert hidden not in exports, hidden
    assert web.get(f"/readers/{reader().asset.pk}").status_code == 404
    assert web.get(f"/assets/{find_asset('main.orders').pk}/declare").status_code == 404


def test_a_null_character_is_refused_in_every_field(cast: dict[str, Person]) -> None:
    web = client(cast["owner"])
    for name in FORM:
        assert web.post("/readers/new/declare", FORM | {name: "a\0b"}).status_code == 422, name
    orders = find_asset("main.orders")
    for address in ("definition", "note"):
        assert web.post(f"/assets/{orders.pk}/{address}", {"text": "a\0b"}).status_code == 422
    assert Asset.objects.filter(consumer__isnull=False).count() == 1


def test_the_form_shows_no_table_of_a_hidden_domain_and_takes_none_away(cast: dict[str, Person]) -> None:
    machine = Actor(system("cli"), "cli")
    reads = {"asset": "Copy of orders", "tool": "copier", "reads": ["main.orders", "main.revenue"], "domain": "sales"}
    confirm = {"confirm": {"metric": "row_count", "source": "main.revenue"}}
    declare({"domains": [{"name": "pay", "restricted": True}], "consumers": [{**reads, **confirm}]}, actor=machine)
    declare({"assets": [{"asset": "main.revenue", "domain": "pay"}]}, actor=machine)
    web, row = client(cast["owner"]), reader()
    page = web.get(f"/readers/{row.asset.pk}").content.decode()
    assert "main.orders" in page
    assert "revenue" not in page
    seen = re.search('name="seen" value="([^"]*)"', page)
    assert seen is not None
    form = {"kind": "sync", "tool": "copier", "zone": "UTC", "domain": "sales", "lead_minutes": "1", "seen": seen[1]}
    answer = web.post(f"/readers/{row.asset.pk}/declare", {**form, "reads": "main.orders\nmain.stg_orders"})
    assert answer.status_code == 302, text(answer)
    above = Asset.objects.filter(edges_out__to_asset=row.asset, edges_out__removed_in__isnull=True)
    assert set(above.values_list("name", flat=True)) == {"dev.main.orders", "dev.main.stg_orders", "dev.main.revenue"}
    assert reader().confirm_source == find_asset("main.revenue")


def test_a_suggestion_shows_the_tables_that_its_names_mean_and_those_that_nobody_knows(cast: dict[str, Person]) -> None:
    said = {
        "asset": "Copy of orders", "tool": "copier", "reads": ["MAIN.ORDERS", "main.lost"],
        "confirm": {"metric": "row_count", "source": "revenue"},
    }  # fmt: skip
    declare({"consumers": [said]}, actor=agent(cast))
    page = text(client(cast["owner"]).get("/readers"))
    assert "reads dev.main.orders reads, but nobody knows it main.lost" in page
    assert "metric row_count, source dev.main.revenue" in page
    Domain.objects.update(restricted=True)
    Asset.objects.filter(name="dev.main.revenue").update(domain=Domain.objects.get())
    declare({"consumers": [{"asset": "Copy of events", "tool": "copier", "reads": "raw.orders"}]}, actor=agent(cast))
    Asset.objects.filter(name="dev.raw.orders").update(domain=Domain.objects.get())
    hidden = [one for one in waiting(Sight(cast["stranger"])) if one["row"].asset.name == "Copy of events"]
    assert dict(hidden[0]["said"])["reads"] == "a source of a restricted domain"


def test_what_waits_is_read_in_as_many_queries_for_many_as_for_one(cast: dict[str, Person]) -> None:
    actor, sight = agent(cast), Sight(cast["stranger"])

    def suggest(number: int) -> None:
        said = {"asset": f"Copy {number}", "tool": "copier", "reads": ["main.orders", f"lost {number}"]}
        declare({"consumers": [said], "notes": [{"asset": "main.orders", "text": f"note {number}"}]}, actor=actor)

    suggest(0)
    assert sight.hidden_domains == frozenset()
    with CaptureQueriesContext(connection) as few:
        assert len(waiting(sight)) == 2
    for number in range(1, 6):
        suggest(number)
    with CaptureQueriesContext(connection) as many:
        assert len(waiting(sight)) == 12
    assert len(many) == len(few) <= 10
