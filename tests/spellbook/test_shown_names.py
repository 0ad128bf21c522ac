"""A reader that is one asset with a dbt exposure is called what people call it, with dbt's id beneath, everywhere."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from catalog.models import Asset, Domain
from catalog.services.declare import declare
from catalog.services.imports import import_manifest
from catalog.services.search_index import catch_up
from catalog.shown_names import exposure_names, named_in
from foundation.audit import Actor
from foundation.people import create_person, system
from spellbook.sight import Sight
from tests.catalog.manifests import exposure, manifest, model, source

MOST_QUERIES = 12  # of a blast radius
WALL, BOARD = "exposure.shop.wall", "exposure.shop.weekly_board"


@pytest.fixture
def client(db: None) -> Client:
    machine, readers = Actor(system("cli"), "cli"), ["model.shop.orders"]
    exposures = [exposure("wall", *readers, label="Wall of the depot"), exposure("weekly_board", *readers)]
    nodes = [model("orders", "source.shop.raw.orders")]
    import_manifest(manifest(nodes, sources=[source("orders")], exposures=exposures), actor=machine)
    wall = {"asset": "Wall of the depot", "kind": "dashboard", "domain": "sales", "schedule": {"cron": "0 * * * *"}}
    echo = {"asset": "Echo", "kind": "report", "through": "Wall of the depot"}
    declare({"domains": [{"name": "sales"}], "consumers": [wall, echo]}, actor=machine)
    assert not Asset.objects.filter(name="Wall of the depot").exists()  # one asset with the exposure
    catch_up()
    found = Client()
    found.force_login(create_person("member@shop.example", "A member", roles=["admin"]))
    return found


def read(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, (path, answer.content[:400])
    return answer.content.decode()


def pk(name: str) -> int:
    return int(Asset.objects.get(name=name).pk)


def test_lists_show_the_label_or_the_name_as_the_link_and_the_id_beneath(client: Client) -> None:
    orders, wall = pk("dev.main.orders"), pk(WALL)
    for path in (
        "/readers", "/catalog", "/catalog?q=wall", f"/assets/{orders}/blast-radius", f"/assets/{orders}?tab=readers",
        f"/assets/{orders}?tab=lineage", "/history/1",
    ):  # fmt: skip
        html = read(client, path)
        assert re.search(
            rf'<a href="/(assets|readers)/{wall}">Wall of the depot</a><span class="id[^>]*>{WALL}<', html
        ), path
        assert f">{WALL}</a>" not in html, path
    html = read(client, f"/assets/{orders}/blast-radius")
    assert ">weekly_board</a>" in html
    assert "through Wall of the depot" in html
    assert f"<title>Wall of the depot, {WALL} (dashboard, reader)</title>" in html
    assert '<tspan x="14" dy="15">Wall of the depot</tspan>' in html


def test_its_own_pages_are_headed_by_it(client: Client) -> None:
    wall = pk(WALL)
    for path in (f"/assets/{wall}", f"/assets/{wall}/history", f"/assets/{wall}/declare", f"/readers/{wall}",
                 f"/assets/{wall}/lineage"):  # fmt: skip
        html = read(client, path)
        assert "Wall of the depot" in html[html.index("<title>") : html.index("</title>")], path
        assert "Wall of the depot" in html[html.index("<main") :], path
    assert WALL in read(client, f"/assets/{wall}")


def test_sentences_name_it_too(client: Client) -> None:
    wall = pk(WALL)
    client.post(f"/readers/{wall}/withdraw", {"reason": "turned off"})
    html = read(client, f"/readers/{wall}")
    assert "withdrew the reader Wall of the depot: turned off" in html
    again = client.post("/readers/new/declare", {"name": BOARD, "kind": "dashboard", "reads": "main.orders"})
    assert "There is a reader weekly_board already" in again.content.decode()


def test_however_many_they_are_a_page_asks_once_for_what_they_are_called(client: Client) -> None:
    orders = pk("dev.main.orders")
    for path in (f"/assets/{orders}/blast-radius", "/readers", "/catalog", f"/assets/{orders}?tab=readers"):
        read(client, path)  # the graph is read from the database once
        with CaptureQueriesContext(connection) as queries:
            read(client, path)
        assert sum("attributes__label" in one["sql"] for one in queries) == 1, path
        assert len(queries) <= MOST_QUERIES or "blast-radius" not in path


def test_a_label_of_a_hidden_domain_is_not_read(client: Client) -> None:
    Domain.objects.update(restricted=True)
    sight = Sight(create_person("stranger@shop.example", "A stranger"))
    assert exposure_names() == {WALL: "Wall of the depot", BOARD: "weekly_board"}
    assert sight.exposures == {BOARD: "weekly_board"}
    assert sight.called(f"asked for {WALL}.") == f"asked for {WALL}."


def test_an_id_with_two_labels_stays_an_id_and_only_whole_ids_are_named(client: Client) -> None:
    other = manifest([model("orders", package="other")], project="other", exposures=[])
    import_manifest(other, actor=Actor(system("cli"), "cli"))
    names = {WALL: "Wall of the depot"}
    assert (
        named_in(f"{WALL}; {WALL}. {WALL}s my{WALL}", names)
        == f"Wall of the depot; Wall of the depot. {WALL}s my{WALL}"
    )
    assert named_in("no exposure. here", names) == "no exposure. here"
