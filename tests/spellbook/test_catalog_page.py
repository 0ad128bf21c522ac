"""The catalogue page: search, filters, order, pages, and what it says when it finds little or nothing."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from catalog.models import Asset, AssetRole, ColumnList, Domain
from catalog.services.search_index import catch_up
from foundation.people import create_person
from spellbook.pages import catalog as page
from tests.catalog.test_search import asset
from tests.spellbook.page_data import HOSTILE, Scene, scene

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(create_person("reader@shop.example", "Rea Reader"))
    return client


def read(client: Client, path: str, **headers: str) -> str:
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200, (path, answer.content)
    return answer.content.decode()


def listed(html: str) -> list[str]:
    return [unescape(name) for name in re.findall(r'<th scope="row"><a href="/assets/\d+">([^<]*)</a>', html)]


def test_the_best_match_stands_first_with_owner_trust_kind_and_domain(client: Client) -> None:
    row = asset("main.orders", domain=Domain.objects.create(key="shop", name="The shop"), kind="feature_view")
    AssetRole.objects.create(asset=row, person=create_person("o@shop.example", "Olive Owner"), role="owner")
    asset("main.fct_orders")
    html = read(client, "/catalog?q=orders")
    assert listed(html) == ["main.orders", "main.fct_orders"]
    assert "2 results, the best first" in html
    assert all(
        words in html for words in ("Olive Owner", "feature view", "The shop", "nobody", "no domain", "Too little")
    )
    assert 'aria-sort="' not in html


def test_when_no_name_matches_the_columns_that_do_are_counted_and_named(client: Client) -> None:
    asset("main.accounts", columns=["plan_upgraded_at", "id"])
    asset("main.plans", columns=["plan_upgrade"])
    html = read(client, "/catalog?q=plan_upg")
    assert "No table or reader is named like “plan_upg”; 2 columns are." in html
    assert "<code>plan_upgraded_at</code>" in html
    assert listed(html) == ["main.accounts", "main.plans"]
    AssetRole.objects.create(asset=Asset.objects.get(name="main.plans"), label="plan_upgrade team", role="owner")
    Asset.objects.filter(name="main.plans").update(description="plan_upgrade")
    ColumnList.objects.filter(asset__name="main.plans").update(items=[])
    catch_up()
    assert "2 have it in columns, descriptions" in read(client, "/catalog?q=plan_upg")


def test_nothing_found_offers_what_was_meant_and_a_way_back(client: Client) -> None:
    asset("main.fct_account_events")
    html = read(client, "/catalog?q=fct_acount_events&kind=model")
    assert "No table, reader, column or description matches “fct_acount_events” within these filters." in html
    assert 'Did you mean <a href="/catalog?q=fct_account_events&amp;kind=model">fct_account_events</a>?' in html
    assert 'href="/catalog">Clear</a>' in html


def test_filters_stay_and_say_how_many_there_are_without_them(client: Client) -> None:
    asset("main.orders")
    asset("main.visits", kind="source")
    html = read(client, "/catalog?q=orders&kind=source")
    assert '<a href="/catalog?q=orders">1 without the filters</a>' in html
    assert '<option value="source" selected>' in html
    assert "<details open>" in html
    assert listed(read(client, "/catalog?kind=source")) == ["main.visits"]
    assert listed(read(client, "/catalog?domain=-")) == ["main.orders", "main.visits"]
    assert "Nothing is within these filters." in read(client, "/catalog?domain=nowhere")


def test_an_owner_is_chosen_from_the_list(client: Client) -> None:
    owner = create_person("o@shop.example", "Olive Owner")
    AssetRole.objects.create(asset=asset("main.orders"), person=owner, role="owner")
    asset("main.visits")
    assert f'<option value="{owner.pk}">Olive Owner</option>' in read(client, "/catalog")
    assert listed(read(client, f"/catalog?owner={owner.pk}")) == ["main.orders"]


def test_the_filters_offer_no_restricted_domain_and_nobody_who_owns_there_alone(client: Client) -> None:
    shop = Domain.objects.create(key="shop", name="The shop")
    hidden = Domain.objects.create(key="vault", name="The vault", restricted=True)
    for number, domain in enumerate((shop, hidden, None)):
        owner = create_person(f"o{number}@shop.example", f"Owner {number}")
        AssetRole.objects.create(asset=asset(f"main.t{number}", domain=domain), person=owner, role="owner")
    Domain.objects.filter(pk=hidden.pk).update(owner=create_person("v@shop.example", "Vera Vault"))
    html = read(client, "/catalog")
    assert all(words in html for words in ("The shop", "Owner 0", "Owner 2"))
    assert not any(words in html for words in ("The vault", "Owner 1", "Vera Vault"))
    admin = create_person("admin@shop.example", "The admin", roles=["admin"])
    client.force_login(admin)
    assert all(words in read(client, "/catalog") for words in ("The vault", "Owner 1", "Vera Vault"))


def test_heads_order_and_tell_how_it_is_ordered(client: Client) -> None:
    for name, kind in (("b", "model"), ("a", "source"), ("c", "model")):
        asset(name, kind=kind)
    html = read(client, "/catalog")
    assert 'aria-sort="ascending"><a class="order" href="/catalog?sort=-name">Name' in html
    html = read(client, "/catalog?sort=-kind")
    assert listed(html) == ["a", "b", "c"]
    assert 'aria-sort="descending"><a class="order" href="/catalog?sort=kind">Kind' in html
    assert html.count("aria-sort") == 1
    assert '<option value="-kind" selected>' in html


def test_pages_follow_each_other_and_keep_what_was_asked(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "SHOWN", 2)
    for number in range(5):
        asset(f"main.orders_{number}")
    html = read(client, "/catalog?q=orders&kind=model")
    assert "5 results, number 1 to 2 shown" in html
    assert 'href="/catalog?q=orders&amp;kind=model&amp;page=2" rel="next"' in html
    last = read(client, "/catalog?q=orders&page=3")
    assert listed(last) == ["main.orders_4"]
    assert 'rel="next"' not in last
    assert "lies behind the last result" in read(client, "/catalog?q=orders&page=4")


def test_a_change_that_is_not_in_the_index_yet_is_said_and_found(client: Client) -> None:
    asset("main.orders", indexed=False)
    html = read(client, "/catalog?q=orders")
    assert "is not in the index yet" in html
    assert listed(html) == ["main.orders"]
    while catch_up():
        pass
    assert "is not in the index yet" not in read(client, "/catalog?q=orders")


def test_an_htmx_request_gets_the_results_alone(client: Client) -> None:
    asset("main.orders")
    html = read(client, "/catalog?q=orders", **{"HX-Request": "true"})
    assert html.strip().startswith('<div id="results">')
    assert "<form" not in html
    assert listed(html) == ["main.orders"]


@pytest.mark.parametrize(
    ("query", "status"),
    [("page=0", 422), ("page=x", 422), ("page=99999999999999999999", 422), ("owner=x", 422), ("owner=999999", 422),
     ("sort=trust", 422), ("q=" + "x" * 1001, 422), ("q=%ED%A0%80", 200), ("q=a%00b", 422), ("page=%C2%B2", 422),
     ("q=%22%27%29%28", 200), ("kind=%27", 200), ("domain=%5C", 200), ("page=20000", 200)],
)  # fmt: skip
def test_an_odd_address_is_answered_in_words(client: Client, query: str, status: int) -> None:
    assert client.get(f"/catalog?{query}").status_code == status


def test_names_of_others_are_escaped(client: Client) -> None:
    asset(HOSTILE, columns=[HOSTILE + "column"])
    for path in ("/catalog", "/catalog?q=script", "/catalog?q=alert+column"):
        html = read(client, path)
        assert "<script>alert" not in html
        assert "\u202e" not in html


def test_a_scene_that_no_service_made_is_found_too() -> None:
    night: Scene = scene()
    client = Client()
    client.force_login(night.people["stranger"])
    assert "fct_orders" in listed(read(client, "/catalog?q=orders"))


def test_a_page_of_fifty_costs_few_queries(client: Client, django_assert_max_num_queries: object) -> None:
    for number in range(55):
        asset(f"main.orders_{number}", columns=["amount"])
    catch_up()
    read(client, "/catalog")
    with django_assert_max_num_queries(45):  # type: ignore[operator]
        read(client, "/catalog?q=amount")
