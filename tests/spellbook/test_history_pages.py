"""The history pages: versions, what one of them changed, and when the claims about one asset stood."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
from django.test import Client

from catalog.models import Domain, NodeClaim
from catalog.services import claims, namespaces
from foundation.audit import Actor
from foundation.models import Person
from foundation.people import create_person
from tests.catalog.graphs import asset, claim
from tests.spellbook.page_data import HOSTILE

pytestmark = pytest.mark.django_db


@pytest.fixture
def person() -> Person:
    return create_person("somebody@shop.example", "Somebody")


@pytest.fixture
def client(person: Person) -> Client:
    found = Client()
    found.force_login(person)
    return found


def write(key: str, nodes: Mapping[str, tuple[int, Mapping[str, Any]]], edges: set[tuple[int, int]]) -> int:
    wanted = {(above, below, "feeds") for above, below in edges}
    return claims.write(key, "dbt", lambda: claims.difference(key, nodes, wanted, partial=False)).version


def three_versions() -> None:
    """orders feeds revenue; then orders changes and board comes; then revenue goes."""
    orders, revenue, board = asset("s.orders"), asset("s.revenue"), asset("board", kind="dashboard")
    first: dict[str, Any] = {
        "kind": "model",
        "columns": [["id", "int", ""], ["price", "int", ""]],
        "materialized": "view",
    }
    then: dict[str, Any] = {
        "kind": "model",
        "columns": [["id", "bigint", ""], ["amount", "int", ""]],
        "materialized": "table",
    }
    one: tuple[int, dict[str, Any]] = (orders.pk, first)
    two, three = (revenue.pk, {"kind": "model"}), (board.pk, {"kind": "dashboard"})
    write("dbt:shop", {"a": one, "b": two}, {(orders.pk, revenue.pk)})
    write("dbt:shop", {"a": (orders.pk, then), "b": two, "c": three}, {(orders.pk, revenue.pk), (revenue.pk, board.pk)})
    write("dbt:shop", {"a": (orders.pk, then), "c": three}, {(orders.pk, board.pk)})


def text(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, (address, answer.status_code)
    return " ".join(answer.content.decode().split())


def test_versions_are_listed_newest_first_with_what_each_changed(client: Client) -> None:
    three_versions()
    page = text(client, "/history")
    assert "3 versions" in page
    assert page.index('href="/history/3"') < page.index('href="/history/2"') < page.index('href="/history/1"')
    assert "+1 −2" in page
    assert "dbt:shop" in page


def test_who_made_a_version_stands_with_it(client: Client, person: Person) -> None:
    old, new = asset("s.t", "postgres://a"), asset("s.t", "postgres://b")
    claim("openlineage", [old])
    claim("dbt:shop", [new])
    namespaces.declare("postgres://a", "postgres://b", actor=Actor(person.principal, "web"))
    assert "Somebody" in text(client, "/history")
    page = text(client, "/history/3")
    assert "Somebody" in page
    assert "until then postgres://a/s.t" in page


def test_a_version_says_what_came_changed_and_went_and_in_which_words(client: Client) -> None:
    three_versions()
    page = text(client, "/history/2")
    for words in ("column id: int, now bigint", "column price is gone", "new column amount", "view, now table"):
        assert words in page
    assert "1 added, 1 changed, 0 removed" in page
    gone = text(client, "/history/3")
    revenue = asset("s.revenue")
    assert f"/assets/{revenue.pk}/lineage?version=2" in gone
    assert "Removed" in gone
    assert f"/assets/{asset('s.orders').pk}/lineage?version=2" in page


def test_the_claims_of_an_asset_stand_with_their_intervals(client: Client) -> None:
    three_versions()
    page = text(client, f"/assets/{asset('s.orders').pk}/history")
    assert "2 claims" in page
    assert page.index("Lineage as of version 2") < page.index("Lineage as of version 1")
    assert "new column amount" in page
    assert "version 1" in page
    assert "version 3" in page
    assert "It is not in the graph any more" in text(client, f"/assets/{asset('s.revenue').pk}/history")


def test_the_version_that_stood_at_a_moment_is_found(client: Client) -> None:
    three_versions()
    assert "version 3</a> stood" in text(client, "/history?at=2999-01-01T00:00")
    assert "there was none yet" in text(client, "/history?at=1999-01-01T00:00")
    assert client.get("/history?at=yesterday").status_code == 422


def test_long_lists_come_in_pages_and_say_how_many_there_are(client: Client) -> None:
    nodes = {f"n{number:03}": (asset(f"s.t{number:03}").pk, {"kind": "model"}) for number in range(250)}
    pks = [pk for pk, _ in nodes.values()]
    write("dbt:shop", nodes, set(pairwise(pks)))
    for number in range(60):
        claim(f"dbt:other{number}", [asset(f"o.t{number}")])
    page = text(client, "/history")
    assert "61 versions, 50 shown" in page
    assert "before=12" in page
    assert "61 versions, 11 shown" in text(client, "/history?before=12")
    assert "1 version of dbt:shop" in text(client, "/history?source=dbt:shop")
    first = text(client, "/history/1")
    assert "250 in all, 100 shown from 1" in first
    assert "249 in all, 100 shown from 1" in first
    last = text(client, "/history/1?assets=200&edges=200")
    assert "250 in all, 50 shown from 201" in last
    assert "s.t249" in last
    assert "249 in all, 49 shown from 201" in last


def test_names_of_restricted_domains_are_hidden_and_counted(client: Client) -> None:
    three_versions()
    hidden = Domain.objects.create(key="pay", name="Pay", restricted=True)
    for name in ("s.orders", "s.revenue"):
        row = asset(name)
        row.domain = hidden
        row.save()
    page = text(client, "/history/2")
    assert "s.orders" not in page
    assert "a table of a restricted domain" in page
    assert "amount" not in page
    assert "2 in all" in page
    assert client.get(f"/assets/{asset('s.orders').pk}/history").status_code == 404


def test_no_words_about_one_asset_name_another(client: Client) -> None:
    row = asset("s.open")
    for parents in (["model.shop.secret"], ["model.shop.other_secret"]):
        write("dbt:shop", {"a": (row.pk, {"kind": "model", "depends_on": parents})}, set())
    for address in ("/history/2", f"/assets/{row.pk}/history"):
        page = text(client, address)
        assert "what it depends on changed" in page
        assert "secret" not in page


def test_foreign_text_is_escaped(client: Client) -> None:
    row = asset(f"x {HOSTILE}"[:400])
    write("dbt:shop", {"a": (row.pk, {"kind": "model", "path": "a"})}, set())
    write("dbt:shop", {"a": (row.pk, {"kind": "model", "path": HOSTILE})}, set())
    for address in ("/history/2", f"/assets/{row.pk}/history"):
        page = text(client, address)
        assert "<script>alert" not in page
        assert "\u202e" not in page


@pytest.mark.parametrize("address", [
    "/history/999", "/history/99999999999999999999999", "/assets/99999999999999999999999/history",
])  # fmt: skip
def test_what_is_not_there_is_404(client: Client, address: str) -> None:
    assert client.get(address).status_code == 404


@pytest.mark.parametrize("query", [
    "before=-1", "before=x", "before=²", "before=" + "9" * 30, "at=\0", "source=%00",
    "at=9999-12-31T23:59-14:00", "at=0001-01-01T00:00%2B14:00",
])  # fmt: skip
def test_an_address_that_cannot_be_used_is_refused_in_words(client: Client, query: str) -> None:
    assert client.get(f"/history?{query}").status_code == 422


def test_an_empty_graph_says_so(client: Client) -> None:
    assert "Nothing was imported yet" in text(client, "/history")
    assert not NodeClaim.objects.exists()


def test_the_pages_cost_the_same_queries_for_many_rows(client: Client, django_assert_max_num_queries: object) -> None:
    nodes = {f"n{number:03}": (asset(f"s.t{number:03}").pk, {"kind": "model"}) for number in range(90)}
    write("dbt:shop", nodes, set())
    write("dbt:shop", {name: (pk, {"kind": "model", "path": "x"}) for name, (pk, _) in nodes.items()}, set())
    for address, most in (("/history", 16), ("/history/2", 22), (f"/assets/{asset('s.t000').pk}/history", 20)):
        with django_assert_max_num_queries(most):  # type: ignore[operator]
            text(client, address)
