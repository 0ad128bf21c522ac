"""The page of one asset: its parts by tab, the reasons of its trust, and what strangers do not see."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from catalog.models import Asset, AssetRole, Consumer, Definition, Domain, Note
from catalog.services.imports import import_manifest
from foundation.audit import Actor
from foundation.clock import now
from foundation.people import create_agent, create_person, deactivate, system
from incidents.models import Result
from spellbook.pages.asset_tabs import TABS
from spellbook.trust import scores
from spellbook.trust_parts import FAILED_CHECK, INCIDENT_ABOVE, OPEN_INCIDENT, PARTS
from tests.catalog.manifests import shop
from tests.catalog.test_freshness import build, measured
from tests.spellbook.page_data import HOSTILE, Scene, scene

pytestmark = pytest.mark.django_db
MOST_QUERIES = 40


@pytest.fixture
def night() -> Scene:
    return scene()


def read(night: Scene, name: str, tab: str = "", who: str = "stranger") -> str:
    client = Client()
    client.force_login(night.people[who])
    answer = client.get(f"/assets/{night.assets[name].pk}" + (f"?tab={tab}" if tab else ""))
    assert answer.status_code == 200, answer.content.decode()[:500]
    return answer.content.decode()


def words(html: str) -> str:
    """The text of a page, each element's apart from the next one's."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("name", ["fct_orders", "orders to ads", "raw.orders"])
def test_every_part_opens_under_one_heading_with_its_tab_marked(night: Scene, tab: str, name: str) -> None:
    html = read(night, name, tab)
    assert html.count("<h1") == 1
    assert "{{" not in html
    assert "{%" not in html
    address = f"/assets/{night.assets[name].pk}" + ("" if tab == "overview" else f"?tab={tab}")
    assert f'<a href="{address}" aria-current="page">{TABS[tab].label}</a>' in html
    assert html.count('aria-current="page"') == 2  # and the place in the main navigation
    assert all('scope="' in cell for cell in re.findall(r"<th[ >][^>]*", html))


def test_the_trust_is_shown_with_every_part_its_weight_its_evidence_and_the_formula(night: Scene) -> None:
    html = read(night, "fct_orders")
    found = scores([night.assets["fct_orders"]])[night.assets["fct_orders"].pk]
    text = words(html)
    assert f"Trust {found.score} of 100" in text
    assert f"{found.confidence} % of what could be known is known" in text
    for part in found.parts:
        assert part.evidence in text
    for kind in PARTS.values():
        assert f"{kind.label} ({kind.weight})" in text
        assert kind.measures in text
    assert f"An open incident holds the score to {OPEN_INCIDENT}, one above to {INCIDENT_ABOVE}" in text
    assert f"a failed check to {FAILED_CHECK}" in text
    assert f"At most 40 while {night.incident} is open on it." in text


def test_a_table_of_which_nothing_is_known_is_not_called_good(night: Scene) -> None:
    Asset.objects.filter(pk=night.assets["raw.orders"].pk).update(domain=None)
    text = words(read(night, "raw.orders"))
    assert "Too little known" in text
    assert "No check of it is known." in text
    assert "Nobody is named." in text
    assert "Rows not known yet" in text


def test_the_checks_show_the_newest_result_of_each(night: Scene) -> None:
    check = night.assets["fct_orders"].checks.get(kind="unique")
    Result.objects.create(check_run=check, status="failed", reason="7 rows twice", at=now() + timedelta(minutes=1))
    text = words(read(night, "fct_orders", "checks"))
    assert "7 rows twice" in text
    assert "no loaded_at column" in text
    assert "night-bad" in text


def test_the_lineage_shows_the_nearest_and_leads_to_all(night: Scene) -> None:
    html = read(night, "fct_orders", "lineage")
    text = words(html)
    assert "All 2 above" in text
    assert "All 3 below" in text
    assert "stage_orders" in text
    assert "Weekly board" not in text  # two hops away
    assert f'href="/assets/{night.assets["fct_orders"].pk}/lineage?direction=up"' in html


def test_the_readers_come_soonest_damage_first(night: Scene) -> None:
    text = words(read(night, "fct_orders", "readers"))
    assert "2 readers, soonest damage first; the next reads" in text
    assert text.index("orders to ads") < text.index("Weekly board")
    assert "Audiences lose people who bought." in text
    assert "The operator" in text
    assert "No declared reader is reached" in words(read(night, "mart_weekly", "readers"))


def test_a_suggestion_says_that_it_is_one_and_who_made_it(night: Scene) -> None:
    agent = create_agent("watcher", owner=night.people["owner"])
    fact, board = night.assets["fct_orders"], night.assets["Weekly board"]
    Note.objects.create(
        asset=fact, text=f"Late rows come at noon {HOSTILE}", author=agent, created_at=now(), status="suggested"
    )
    Note.objects.create(asset=fact, text="Not so", author=agent, created_at=now(), status="refused")
    Definition.objects.create(
        asset=fact, number=1, text="One row an order.", author=agent, created_at=now(), status="suggested"
    )
    Consumer.objects.filter(asset=board).update(
        status="suggested", suggested_by=agent, suggested_at=now(), approved_by=None
    )
    notes = read(night, "fct_orders", "notes")
    assert "A suggestion written by watcher" in words(notes)
    assert "Not so" not in notes
    assert "<script>alert" not in notes
    assert "⟨U+202E⟩" in notes
    history = words(read(night, "fct_orders", "history"))
    assert "1 One row an order. A suggestion written by watcher" in history
    assert "the one that counts" not in history
    assert "No definition is written." in words(read(night, "fct_orders"))  # what nobody approved defines nothing
    assert "A suggestion of watcher" in words(read(night, "Weekly board"))


def test_the_definition_that_stands_heads_the_page_and_the_older_ones_stay(night: Scene) -> None:
    fact, owner = night.assets["fct_orders"], night.people["owner"]
    for number, text in ((1, "An order."), (2, "One row an order.")):
        Definition.objects.create(
            asset=fact, number=number, text=text, author=owner.principal, created_at=now(), approved_by=owner,
            approved_at=now(),
        )  # fmt: skip
    text = words(read(night, "fct_orders", "history"))
    assert text.index("2 One row an order. the one that counts Declared by The owner") < text.index("1 An order.")


def test_names_of_a_restricted_domain_are_hidden_in_every_part(night: Scene) -> None:
    hidden = Domain.objects.create(key="board", name="Board", restricted=True)
    board = night.assets["Weekly board"]
    Asset.objects.filter(pk=board.pk).update(domain=hidden)
    for tab in TABS:
        assert "Weekly board" not in read(night, "orders to ads", tab), tab
    assert "a dashboard of a restricted domain" in read(night, "orders to ads", "readers")
    assert "Weekly board" in read(night, "orders to ads", "readers", who="admin")
    client = Client()
    client.force_login(night.people["stranger"])
    assert client.get(f"/assets/{board.pk}?tab=columns").status_code == 404


def test_the_definitions_have_an_address_of_their_own_and_the_earlier_one_leads_there(night: Scene) -> None:
    for tab in ("definition", "history"):
        html = read(night, "fct_orders", tab)
        assert (
            f'<a href="/assets/{night.assets["fct_orders"].pk}?tab=definition" aria-current="page">Definition' in html
        )
        assert "Nobody has written what it means." in html


def test_who_answers_is_the_same_on_the_page_and_in_every_list(night: Scene) -> None:
    """A deactivated person and a label do not answer where the domain has an owner."""
    fact = night.assets["fct_orders"]
    gone = create_person("gone@shop.example", "Gone Owner")
    AssetRole.objects.create(asset=fact, person=gone, role="owner")
    AssetRole.objects.create(asset=fact, label="A team", role="owner", source="dbt:retail")
    deactivate(gone, actor=night.actor("admin"))
    said = words(read(night, "fct_orders"))
    assert "People owner The owner, A team on call The owner Who was named" in said
    assert "owner Gone Owner deactivated declared by people" in said
    client = Client()
    client.force_login(night.people["stranger"])
    for path in (f"/catalog?q={fact.name}", f"/assets/{night.assets['stage_orders'].pk}/blast-radius"):
        listed = words(client.get(path).content.decode())
        assert "The owner" in listed[listed.index("fct_orders") :], path
        assert "Gone Owner" not in listed[listed.index("fct_orders") :], path


def test_a_source_says_how_fresh_it_was_when_dbt_looked(night: Scene) -> None:
    machine = Actor(system("cli"), "cli")
    import_manifest(shop(), actor=machine)
    night.assets["raw"] = Asset.objects.get(name="dev.raw.orders")
    assert "Freshness not known: no build brought a sources.json" in words(read(night, "raw"))
    build(machine, "looked", measured("warn", hour=4), hour=4, project="shop")
    said = words(read(night, "raw"))
    assert "Freshness Late its newest row was loaded 1 Mar 02:00 UTC late after 12 h, too late after 2 days" in said
    assert "dbt looked 1 Mar 04:00 UTC in the build looked" in said
    assert "Freshness" not in words(read(night, "fct_orders"))


def test_a_part_that_there_is_not_is_said(night: Scene) -> None:
    client = Client()
    client.force_login(night.people["stranger"])
    address = f"/assets/{night.assets['fct_orders'].pk}"
    answer = client.get(f"{address}?tab=secrets")
    assert answer.status_code == 404
    assert "There is no part of this page called" in answer.content.decode()
    assert client.get(f"{address}?tab=a%00b").status_code == 422
    assert client.post(address).status_code == 405


@pytest.mark.parametrize("tab", TABS)
def test_no_part_takes_more_queries_than_a_page_may(night: Scene, tab: str) -> None:
    client = Client()
    client.force_login(night.people["owner"])
    address = f"/assets/{night.assets['fct_orders'].pk}?tab={tab}"
    client.get(address)
    with CaptureQueriesContext(connection) as taken:
        client.get(address)
    assert len(taken) <= MOST_QUERIES, [one["sql"][:100] for one in taken]
