"""What a newcomer reads on the pages: line ends, who said what, which version, what waits, what is withdrawn."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.template import Context, Template
from django.test import Client
from django.test.utils import CaptureQueriesContext

from catalog.models import Asset, Consumer, Domain, Note
from catalog.selectors import find_asset
from catalog.services.declare import declare
from catalog.services.imports import import_manifest
from foundation.audit import Actor
from foundation.models import Person
from foundation.people import create_agent, create_person, give_role, system
from foundation.unseen import visible
from spellbook.pages.waiting import answerable, waiting
from spellbook.sight import Sight
from spellbook.trust import scores
from tests.catalog.manifests import shop
from tests.spellbook.page_data import scene

pytestmark = pytest.mark.django_db
READER = {"asset": "Copy of orders", "tool": "copier", "reads": "main.orders", "schedule": {"cron": "0 2 * * *"}}


@pytest.fixture
def cast() -> dict[str, Person]:
    found = {name: create_person(f"{name}@example.com", f"The {name}") for name in ("owner", "teammate", "stranger")}
    machine = Actor(system("cli"), "cli")
    import_manifest(shop(), actor=machine)
    domains = [{"name": "sales", "owner": "owner@example.com"}]
    declare({"domains": domains, "assets": [{"asset": "main.orders", "domain": "sales"}]}, actor=machine)
    return found


def client(person: Person) -> Client:
    found = Client()
    found.force_login(person)
    return found


def text(answer: Any) -> str:
    assert answer.status_code == 200, answer.content[:300]
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split()))


def agent(cast: dict[str, Person]) -> Actor:
    return Actor(create_agent("scout", owner=cast["teammate"]), "mcp")


def orders() -> str:
    return f"/assets/{find_asset('main.orders').pk}"


def withdrawn(cast: dict[str, Person]) -> tuple[Client, int]:
    declare({"consumers": [{**READER, "domain": "sales"}]}, actor=Actor(cast["owner"].principal, "web"))
    web, pk = client(cast["owner"]), Asset.objects.get(name="Copy of orders").pk
    assert web.post(f"/readers/{pk}/withdraw", {"reason": "turned off"}).status_code == 302
    return web, pk


def test_a_line_ends_as_people_end_it(cast: dict[str, Person]) -> None:
    web = client(cast["owner"])
    web.post(f"{orders()}/note", {"text": "one\r\ntwo"})
    assert Note.objects.get().text == "one\ntwo"
    Note.objects.update(text="three\r\nfour")
    page = web.get(f"{orders()}?tab=notes").content.decode()
    assert '<p class="foreign">three\nfour</p>' in page
    assert "U+000D" not in page
    assert visible("a\rb") == "a⟨U+000D⟩b"


def test_whoever_may_answer_is_told_at_home_that_suggestions_wait(cast: dict[str, Person]) -> None:
    actor = agent(cast)

    def suggest(number: int) -> None:
        said = {**READER, "asset": f"Copy {number}"}
        declare({"consumers": [said], "notes": [{"asset": "main.orders", "text": f"note {number}"}]}, actor=actor)

    suggest(0)
    with CaptureQueriesContext(connection) as few:
        assert answerable(Sight(cast["owner"])) == 2
    for number in range(1, 5):
        suggest(number)
    with CaptureQueriesContext(connection) as many:
        assert answerable(Sight(cast["owner"])) == 10
    assert len(many) == len(few) <= 10
    assert answerable(Sight(cast["owner"])) == sum(one["mine"] for one in waiting(Sight(cast["owner"])))
    for address in ("/", "/me"):
        page = client(cast["owner"]).get(address)
        assert "10 suggestions wait for your answer" in text(page), address
        assert b'href="/readers#waiting"' in page.content
        assert "Nothing waits for you" not in text(page)
        assert "your answer" not in text(client(cast["stranger"]).get(address))
    assert "Nothing waits for you" in text(client(cast["stranger"]).get("/"))


def test_the_list_of_what_waits_is_bounded_with_mine_first(
    cast: dict[str, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spellbook.pages.readers.LIMIT", 2)
    actor = agent(cast)
    lost = [{"asset": "raw.orders", "text": f"note {number}"} for number in range(3)]
    declare({"notes": [*lost, {"asset": "main.orders", "text": "the last one"}]}, actor=actor)
    page = text(client(cast["owner"]).get("/readers"))
    assert "Waiting for an answer (4)" in page
    assert "2 of 4 are shown" in page
    assert "the last one" in page


def test_a_withdrawn_reader_says_so_and_can_be_declared_again(cast: dict[str, Person]) -> None:
    web, pk = withdrawn(cast)
    for address in (f"/assets/{pk}", f"/readers/{pk}"):
        assert re.search(r"Withdrawn by The owner, .* UTC ?: +turned off", text(web.get(address))), address
    page = web.get(f"/readers/{pk}").content.decode()
    assert "Keep and approve" not in page
    assert "Declare again" in page
    assert 'value="0 2 * * *"' in page
    assert ">main.orders</textarea>" in page
    assert "Keep and approve" not in client(cast["owner"]).get("/readers/new").content.decode()
    seen = re.search(r'name="seen" value="([0-9a-f]+)"', page)
    assert seen is not None
    form = {"kind": "sync", "tool": "copier", "reads": "main.orders", "when": "cron", "cron": "0 2 * * *"}
    assert web.post(f"/readers/{pk}/declare", {**form, "seen": seen[1]}).status_code == 302
    row = Consumer.objects.get(asset=pk)
    assert (row.status, row.cron, row.approved_by) == ("standing", "0 2 * * *", cast["owner"])
    assert "Withdrawn by" not in text(web.get(f"/assets/{pk}"))


def test_what_stood_in_a_restricted_domain_is_shown_to_its_eyes_alone(cast: dict[str, Person]) -> None:
    _, pk = withdrawn(cast)
    Domain.objects.update(restricted=True)
    give_role(cast["owner"], "member", scope="domain:sales", actor=Actor(system("cli"), "cli"))
    shown = {name: client(cast[name]).get(f"/readers/{pk}").content.decode() for name in ("owner", "stranger")}
    assert {name: 'value="copier"' in page for name, page in shown.items()} == {"owner": True, "stranger": False}
    assert "turned off" not in text(client(cast["stranger"]).get(f"/assets/{pk}"))


def test_ones_own_word_is_declared_and_only_anothers_is_approved(cast: dict[str, Person]) -> None:
    declare({"consumers": [READER]}, actor=Actor(cast["owner"].principal, "web"))
    web, pk = client(cast["owner"]), Asset.objects.get(name="Copy of orders").pk
    web.post(f"{orders()}/note", {"text": "mine"})
    web.post(f"{orders()}/definition", {"text": "One row an order."})
    for address in (f"/assets/{pk}", f"/readers/{pk}", f"{orders()}?tab=notes", f"{orders()}?tab=definition",
                    f"{orders()}/declare"):  # fmt: skip
        page = text(web.get(address))
        assert not re.search(r"[Aa]pproved by|Approved", page.replace("Keep and approve", "")), address
    assert "declared by The owner" in text(web.get(f"/assets/{pk}"))
    assert "Declared by The owner" in text(web.get(f"/readers/{pk}"))


def test_a_suggestion_that_another_approved_says_both(cast: dict[str, Person]) -> None:
    declare({"notes": [{"asset": "main.orders", "text": "seen"}]}, actor=agent(cast))
    web = client(cast["owner"])
    assert b"Answer it" in web.get(f"{orders()}?tab=notes").content
    assert b"Answer it" not in client(cast["stranger"]).get(f"{orders()}?tab=notes").content
    (one,) = waiting(Sight(cast["owner"]))
    address = f"/suggestions/note/{one['row'].pk}"
    assert web.post(address, {"answer": "approve", "seen": one["row"].seen}).status_code == 302
    assert "Approved by The owner" in text(web.get(f"{orders()}?tab=notes"))


def test_the_first_button_of_a_suggestion_is_disabled_so_that_enter_decides_nothing(cast: dict[str, Person]) -> None:
    declare({"notes": [{"asset": "main.orders", "text": "seen"}]}, actor=agent(cast))
    page = client(cast["owner"]).get("/readers").content.decode()
    form = page[page.index('action="/suggestions/') :]
    first = re.search(r"<button[^>]*>", form)
    assert first is not None
    assert "disabled" in first[0]


def test_the_first_button_of_a_hold_is_disabled_too() -> None:
    night = scene()
    page = client(night.people["operator"]).get(f"/incidents/{night.incident.number}").content.decode()
    first = re.search(r"<button[^>]*>", page[page.index('action="/holds/') :])
    assert first is not None
    assert "disabled" in first[0]


def test_a_page_of_the_present_says_so_when_a_version_is_asked_for(cast: dict[str, Person]) -> None:
    web = client(cast["owner"])
    answer = web.get(f"{orders()}?version=1")
    assert "This page shows the present." in text(answer)
    assert f'href="{orders()}/lineage?version=1"' in answer.content.decode()
    assert f'href="{orders()}/blast-radius?version=1"' in answer.content.decode()
    assert "shows the present" not in text(web.get(orders()))
    assert web.get(f"{orders()}?version=x").status_code == 422


def test_what_dbt_names_no_table_for_is_called_by_its_own_name(cast: dict[str, Person]) -> None:
    loose = Asset.objects.create(namespace="duckdb://shop", name="main.loose", kind="table")
    assert "Table main.loose in duckdb://shop" in text(client(cast["owner"]).get(f"/assets/{loose.pk}"))


def test_a_dashboard_has_no_operator_that_could_be_missing(cast: dict[str, Person]) -> None:
    declare({"consumers": [READER]}, actor=Actor(cast["owner"].principal, "web"))
    page = client(cast["owner"]).get(f"{orders()}?tab=readers").content.decode()
    lines = re.findall(r"<tr><th scope=\"row\">.*?</tr>", page, re.DOTALL)
    operators = {"dashboard" if "dashboard" in line else "sync": "nobody" in line for line in lines}
    assert operators == {"dashboard": False, "sync": True}


def test_too_little_known_is_no_number(cast: dict[str, Person]) -> None:
    web = client(cast["owner"])
    page, found = text(web.get(orders())), scores([find_asset("main.orders")])[find_asset("main.orders").pk]
    assert (found.state, found.score is None) == ("unknown", False)
    assert "Trust Too little known" in page
    assert "of 100" not in page.partition("The formula")[0]
    assert "of 100, why?" not in text(web.get("/catalog"))


def test_me_leads_to_readers_and_history(cast: dict[str, Person]) -> None:
    page = client(cast["owner"]).get("/me").content.decode()
    mine = page[page.index("This browser") :]
    assert 'href="/readers"' in mine
    assert 'href="/history"' in mine


def test_a_long_name_breaks_behind_its_marks_and_is_escaped_once() -> None:
    def shown(name: str) -> str:
        return Template("{% load pages %}{{ name|breaking }}").render(Context({"name": name}))

    assert shown("main.orders") == "main.orders"
    assert shown("warehouse.marts.orders_of_<b>") == "warehouse.<wbr>marts.<wbr>orders_<wbr>of_<wbr>&lt;b&gt;"


def test_texts_of_others_are_escaped_once_however_many_stand_together() -> None:
    page = Template('{% load pages %}{{ names|joined:", "|foreign }}')
    assert page.render(Context({"names": ["Ada <ada@x>", "B"]})) == "Ada &lt;ada@x&gt;, B"
    twice = re.compile(r'\|join:"[^"]*"\|')  # what Django's join gives is escaped already
    assert [path.name for path in Path("templates").rglob("*.html") if twice.search(path.read_text())] == []
