"""Searching: what is found, in which order, by whom, and what a typo meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from catalog.models import Asset, AssetRole, ColumnList, Definition, Domain, GraphHead, GraphVersion, NodeClaim, Source
from catalog.search import find as search
from catalog.search.find import SORTS, find
from catalog.services.declare import declare
from catalog.services.imports import import_manifest
from catalog.services.search_index import catch_up, refresh
from foundation.audit import Actor
from foundation.clock import now
from foundation.errors import BadInput
from foundation.models import Person
from foundation.people import create_person, deactivate, erase, give_role
from tests.catalog.manifests import shop

pytestmark = pytest.mark.django_db


def asset(
    name: str,
    *,
    columns: Sequence[str] = (),
    tags: Sequence[str] = (),
    label: str = "",
    indexed: bool = True,
    **more: Any,
) -> Asset:
    """An asset in the graph, in a version of its own."""
    row = Asset.objects.create(**{"namespace": "duckdb://house", "name": name, "kind": "model"} | more)
    source, _ = Source.objects.get_or_create(key="dbt:shop", defaults={"kind": "dbt"})
    GraphHead.objects.get_or_create(pk=1)
    head = GraphHead.objects.get()
    version = GraphVersion.objects.create(number=head.version + 1, at=now(), source=source)
    GraphHead.objects.update(version=version.number)
    said = {"tags": list(tags), "label": label}
    NodeClaim.objects.create(source=source, asset=row, local_id=f"model.{row.pk}", added_in=version, attributes=said)
    items = [{"name": one, "type": "text", "description": "", "nullable": None} for one in columns]
    ColumnList.objects.create(asset=row, items=items)
    if indexed:
        refresh([row.pk])
    return row


def remove(row: Asset) -> None:
    head = GraphHead.objects.get().version + 1
    version = GraphVersion.objects.create(number=head, at=now(), source=Source.objects.get())
    GraphHead.objects.update(version=head)
    NodeClaim.objects.filter(asset=row).update(removed_in=version)


def names(text: str, person: Person | None = None, **more: Any) -> list[str]:
    return [row.asset.name for row in find(text, person, **more).rows]


def test_the_exact_name_comes_first_then_prefixes_then_words_then_the_rest() -> None:
    asset("main.daily", columns=["orders_total"])
    asset("main.fct_orders")
    asset("main.orders_daily")
    asset("main.orders")
    asset("main.other", description="All orders of a day")
    found = find("orders", None)
    assert [(row.asset.name, row.rank) for row in found.rows] == [
        ("main.orders", "exact"), ("main.orders_daily", "prefix"), ("main.fct_orders", "name"),
        ("main.daily", "columns"), ("main.other", "text"),
    ]  # fmt: skip
    assert found.rows[3].columns == ("orders_total",)
    assert (found.total, found.truncated, found.named) == (5, False, True)


@pytest.mark.parametrize(
    "text",
    ["dev.main.fct_orders", "DEV.Main.Fct_Orders", "duckdb://house/dev.main.fct_orders", "fct_orders", "fct_or",
     "dev.main", "main.fct", "orders fct", "  ord   fc ", "fct orders", "FCT-ORDERS", "house orders"],
)  # fmt: skip
def test_a_name_is_found_however_it_is_written(text: str) -> None:
    asset("dev.main.fct_orders")
    asset("dev.other.visits")
    assert "dev.main.fct_orders" in names(text)


def test_humps_accents_and_scripts_without_blanks_are_found() -> None:
    for name in ("dbo.OrderItems", "Ventes d'été", "売上高表"):
        asset(name)
    assert names("order items") == names("orderitems") == names("items") == ["dbo.OrderItems"]
    assert names("ete ventes") == names("VENTES D'ÉTÉ") == ["Ventes d'été"]
    assert names("売上") == names("高") == ["売上高表"]


def test_a_reader_is_found_by_what_dbt_calls_it() -> None:
    asset("exposure.freight.depot_wall", label="Wall of the depot", kind="dashboard")
    assert names("wall of the dep") == ["exposure.freight.depot_wall"]


def test_columns_tags_definitions_labels_and_kinds_are_found() -> None:
    row = asset("main.t", columns=["plan_upgraded_at"], tags=["nightly", "finance-close"], kind="feature_view")
    AssetRole.objects.create(asset=row, label="Data platform rota", role="on_call")
    Definition.objects.create(
        asset=row, number=1, text="Old words", author=create_person("a@example.com", "A").principal, created_at=now()
    )
    Definition.objects.create(
        asset=row, number=2, text="Everybody who churned", author=row.definitions.get().author, created_at=now()
    )
    refresh([row.pk])
    for text in (
        "plan_upg",
        "upgraded",
        "finance close",
        "nightly",
        "rota",
        "churned",
        "feature view",
        "t nightly plan",
    ):
        assert names(text) == ["main.t"], text
    assert names("old words") == []


def test_a_column_is_named_when_no_table_is() -> None:
    asset("main.accounts", columns=["plan_upgraded_at", "plan_upgrade_reason", "id"])
    found = find("plan_upg", None)
    assert (found.named, found.total) == (False, 1)
    assert found.rows[0].columns == ("plan_upgraded_at", "plan_upgrade_reason")


def test_all_words_must_be_held_each_by_any_part() -> None:
    asset("main.orders", columns=["amount"])
    asset("main.visits", columns=["amount"])
    assert names("orders amount") == ["main.orders"]
    assert names("orders nothing") == []


def test_owners_are_found_by_their_name_of_now_and_their_domain_by_its_own(
    owner: Person, teammate: Person, person: Actor
) -> None:
    domain = Domain.objects.create(key="growth", name="Growth and Retention", owner=teammate)
    mine, theirs = asset("main.mine", domain=domain), asset("main.theirs", domain=domain)
    AssetRole.objects.create(asset=mine, person=owner, role="owner")
    refresh([mine.pk, theirs.pk])
    assert names("olive") == ["main.mine"]
    assert names("tom") == ["main.theirs"]
    assert names("olive mine") == ["main.mine"]
    assert names("retention") == names("growth") == ["main.mine", "main.theirs"]
    erase(owner, actor=person)
    deactivate(teammate, actor=person)
    assert names("olive") == names("tom") == []


def test_no_name_of_a_person_stands_in_the_index(owner: Person) -> None:
    row = asset("main.mine")
    AssetRole.objects.create(asset=row, person=owner, role="owner")
    refresh([row.pk])
    assert "olive" not in str(vars(row.search_entry)).lower()


def test_names_of_restricted_domains_are_found_by_those_alone_who_may_read_them(
    owner: Person, teammate: Person, machine: Actor
) -> None:
    asset("main.revenue", domain=Domain.objects.create(key="pay", name="Pay", restricted=True), columns=["iban"])
    stranger = create_person("stranger@example.com", "Stranger")
    for text in ("", "revenue", "main.revenue", "duckdb://house/main.revenue", "iban", "r", "pay", "revnue"):
        found = find(text, stranger)
        assert (found.total, found.rows, found.did_you_mean, found.named) == (0, (), (), False), text
    give_role(owner, "admin", actor=machine)
    give_role(teammate, "member", scope="domain:pay", actor=machine)
    for person in (owner, teammate, None):
        assert names("revenue", person) == ["main.revenue"]
        assert names("main", person) == ["main.revenue"]
    assert find("revnue", owner).did_you_mean == ("revenue",)


def test_an_asset_that_moves_into_a_restricted_domain_is_hidden_at_once(teammate: Person) -> None:
    row = asset("main.revenue")
    assert names("revenue", teammate) == ["main.revenue"]
    Asset.objects.filter(pk=row.pk).update(domain=Domain.objects.create(key="pay", name="Pay", restricted=True))
    assert names("revenue", teammate) == names("", teammate) == []


def test_filters_narrow_by_kind_domain_and_owner(owner: Person, teammate: Person) -> None:
    growth = Domain.objects.create(key="growth", name="Growth", owner=teammate)
    a = asset("main.a_orders", kind="source")
    asset("main.b_orders", domain=growth)
    asset("main.c_orders")
    AssetRole.objects.create(asset=a, person=owner, role="owner")
    assert names("orders", kinds=["source"]) == ["main.a_orders"]
    assert names("", kinds=["source", "model"], domains=["growth"]) == ["main.b_orders"]
    assert names("orders", domains=["", "growth"]) == ["main.a_orders", "main.b_orders", "main.c_orders"]
    assert names("orders", domains=["nothing"]) == []
    assert names("orders", owner=owner) == ["main.a_orders"]
    assert names("", owner=teammate) == ["main.b_orders"]
    assert find("orders", None, kinds=["model"]).total == 2


def test_pages_cover_everything_once_whatever_the_order() -> None:
    for number in range(7):
        asset(f"main.orders_{number}")
        asset(f"main.fct_orders_{number}", kind="source")
        asset(f"orders.x_{number}", columns=["orders"], domain=Domain.objects.create(key=f"d{number}", name="D"))
        asset(f"main.t_{number}", columns=["orders"])
    asset("main.orders")
    for sort in SORTS:
        for text in ("orders", "", "o"):
            pages = [find(text, None, sort=sort, offset=offset, limit=4) for offset in range(0, 32, 4)]
            ids = [row.asset.pk for page in pages for row in page.rows]
            assert len(ids) == len(set(ids)) == pages[0].total, (sort, text)
            assert ids == [row.asset.pk for row in find(text, None, sort=sort).rows]
            assert [page.truncated for page in pages] == [page.offset + len(page.rows) < page.total for page in pages]


def test_the_last_of_very_many_are_paged_once_each_without_sorting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MANY", 3)
    for letter in "dacb":
        asset(f"main.{letter}_t", columns=["orders"])
    asset("main.orders")
    pages = [names("orders", offset=offset, limit=2) for offset in (0, 2, 4)]
    assert pages == [["main.orders", "main.d_t"], ["main.a_t", "main.c_t"], ["main.b_t"]]
    assert [find("orders", None, offset=offset, limit=2).named for offset in (0, 2, 4, 8)] == [True] * 4


def test_an_order_by_a_column_goes_both_ways() -> None:
    asset("main.b", kind="model", domain=Domain.objects.create(key="x", name="X"))
    asset("main.a", kind="source")
    asset("main.c", kind="model")
    assert names("", sort="name") == names("") == ["main.a", "main.b", "main.c"]
    assert names("main", sort="-name") == ["main.c", "main.b", "main.a"]
    assert names("main", sort="kind") == ["main.b", "main.c", "main.a"]
    assert names("", sort="-kind") == ["main.a", "main.b", "main.c"]
    assert names("", sort="domain") == names("", sort="-domain") == ["main.b", "main.a", "main.c"]


@pytest.mark.parametrize(
    ("text", "meant"),
    [("fct_acount_events", "fct_account_events"), ("acount evnets", "account events"), ("Evetns", "events"),
     ("accuont", "account"), ("accountevents fct", "account events fct"), ("eventsacount", ""),
     ("eventsaccount", "events account"),
     ("qqqqqq", ""), ("plan_upgarded_at", "plan_upgraded_at")],
)  # fmt: skip
def test_a_typo_is_answered_with_what_was_meant(text: str, meant: str) -> None:
    asset("dev.main.fct_account_events", columns=["plan_upgraded_at"])
    asset("dev.main.orders")
    found = find(text, None)
    if not found.total:
        assert (found.did_you_mean[:1] or ("",))[0] == meant
    for one in found.did_you_mean:
        assert find(one, None).total


def test_what_finds_something_is_not_corrected() -> None:
    asset("main.orders")
    assert find("oders", None).did_you_mean == ("orders",)
    assert find("orders", None).did_you_mean == ()


def test_punctuation_and_single_letters_begin_names() -> None:
    asset("main._hidden")
    asset("main.xray", columns=["y"])
    catch_up()
    assert names("_") == ["main._hidden"]
    assert names("x") == ["main.xray"]
    assert names("y") == names("%") == names("*") == []


@pytest.mark.parametrize(
    "text",
    ['"', "'", "orders'", 'a" OR "b', "orders*", "NEAR(a b)", "name_words : orders", "a AND NOT b", "^orders", "{a}",
     "orders:*", "a & | ! b", "\\", "a\\'b", "@o1", "-orders", "(", "%_", "\u202eorders", "🙂", "a\u0301", "\ufffd",
     "\U0010ffff", "x" * 999, "AND", "OR NOT"],
)  # fmt: skip
def test_no_text_breaks_the_query_language_of_an_engine(text: str) -> None:
    asset("main.orders", columns=["amount"])
    assert find(text, None).total in (0, 1)
    assert find(text, None, sort="name").total in (0, 1)


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "x" * 1001, " ".join(f"w{number}" for number in range(41))])
def test_what_no_name_could_hold_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(BadInput) as refusal:
        find(text, None)
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize("asked", [{"offset": -1}, {"limit": 501}, {"limit": -1}, {"sort": "trust"}])
def test_an_impossible_page_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        find("", None, **asked)


def test_what_the_index_does_not_know_yet_is_found_all_the_same(teammate: Person) -> None:
    asset("main.orders")
    asset("main.late_orders", indexed=False, description="Every returned parcel")
    found = find("orders", teammate)
    assert [(row.asset.name, row.rank) for row in found.rows] == [
        ("main.orders", "exact"),
        ("main.late_orders", "unread"),
    ]
    assert (found.total, found.behind) == (2, True)
    assert names("parcel") == ["main.late_orders"]
    assert names("", sort="-kind") == names("") == ["main.orders", "main.late_orders"]
    assert names("orders", kinds=["source"]) == []
    Asset.objects.update(domain=Domain.objects.create(key="pay", name="Pay", restricted=True))
    assert names("orders", teammate) == names("", teammate) == []


def test_what_left_the_graph_is_not_found_though_the_index_still_knows_it() -> None:
    asset("main.orders")
    remove(asset("main.old_orders"))
    assert names("orders") == names("") == ["main.orders"]


def test_a_typo_and_all_the_rest_cost_few_queries(django_assert_max_num_queries: Any) -> None:
    for number in range(30):
        asset(f"main.orders_{number}", columns=["amount"])
    catch_up()
    for text, most in (("orders", 14), ("amount", 18), ("", 9), ("ordres amuont", 30)):
        with django_assert_max_num_queries(most):
            find(text, None)


def test_an_import_and_a_declaration_are_found(machine: Actor, owner: Person) -> None:
    import_manifest(shop(), actor=machine)
    declare({"consumers": [{"asset": "Monday board", "kind": "dashboard", "reads": "main.revenue"}]}, actor=machine)
    assert names("revenue", owner) == ["dev.main.revenue"]
    assert names("main revenue") == ["dev.main.revenue"]
    assert names("REVENUE") == ["dev.main.revenue"]
    assert names("board monday") == ["Monday board"]
