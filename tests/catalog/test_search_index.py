"""The index stays in step: at once, by the sweep, and after everything that anybody forgot."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

import pytest
from django.db import connection, connections

from catalog.models import (
    Asset,
    AssetRole,
    ColumnList,
    Domain,
    NodeClaim,
    SearchDue,
    SearchEntry,
    SearchState,
    SearchTrigram,
    SearchWord,
)
from catalog.search.find import find
from catalog.services import search_index
from catalog.services.imports import import_manifest
from catalog.services.search_index import catch_up, mark_due, refresh
from foundation.audit import Actor
from foundation.locks import transaction
from foundation.models import Person
from foundation.people import system
from tests.catalog.manifests import model, shop
from tests.catalog.test_search import asset, names, remove


def settled() -> None:
    for _ in range(50):
        if not catch_up():
            return
    raise AssertionError("the sweep never comes to rest")


def texts() -> set[int]:
    """The assets that the full text of the engine finds under "main"."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("INSERT INTO catalog_searchtext (catalog_searchtext) VALUES ('integrity-check')")
            cursor.execute("SELECT rowid FROM catalog_searchtext WHERE catalog_searchtext MATCH 'main'")
        else:
            cursor.execute("SELECT asset_id FROM catalog_searchentry WHERE all_vector @@ 'main'::tsquery")
        return {pk for (pk,) in cursor.fetchall()}


pytestmark = pytest.mark.django_db


def test_an_entry_follows_its_asset_word_by_word() -> None:
    row = asset("main.orders", columns=["amount"], description="Parcels")
    ColumnList.objects.filter(asset=row).update(
        items=[{"name": "total", "type": "", "description": "Net", "nullable": None}]
    )
    Asset.objects.filter(pk=row.pk).update(description="Letters")
    assert refresh([row.pk, row.pk]) == 1
    assert names("total") == names("letters") == names("net") == ["main.orders"]
    assert names("amount") == names("parcels") == []
    assert texts() == {row.pk}


def test_what_left_the_graph_leaves_the_index_and_comes_back() -> None:
    row = asset("main.orders")
    remove(row)
    refresh([row.pk])
    assert not SearchEntry.objects.exists()
    assert texts() == set()
    again = row.claims.get()
    assert again.removed_in_id is not None
    NodeClaim.objects.create(
        source=again.source, asset=row, local_id=again.local_id, added_in_id=again.removed_in_id, attributes={}
    )
    refresh([row.pk])
    assert texts() == {row.pk}


def test_many_assets_are_left_to_the_sweep_and_are_found_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_index, "AT_ONCE", 2)
    rows = [asset(f"main.orders_{number}", indexed=False) for number in range(5)]
    assert refresh([row.pk for row in rows]) == 0
    assert SearchDue.objects.count() == 5
    found = find("orders", None)
    assert (found.total, found.behind) == (5, True)
    settled()
    found = find("orders", None)
    assert (found.total, found.behind, {row.rank for row in found.rows}) == (5, False, {"prefix"})


def test_a_graph_version_that_nobody_told_of_is_caught_up_with() -> None:
    one, other = asset("main.orders", indexed=False), asset("main.visits")
    remove(other)
    assert find("", None).behind
    settled()
    assert not find("", None).behind
    assert texts() == {one.pk}
    assert SearchState.objects.get().version == 3


def test_a_version_of_many_assets_is_marked_in_parts_and_none_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_index, "MARKED", 2)
    rows = [asset(f"main.{letter}", indexed=False) for letter in "gcfadbe"]
    settled()
    assert texts() == {row.pk for row in rows}


def test_who_refreshes_all_that_a_version_changed_leaves_nothing_behind(machine: Actor) -> None:
    asset("main.orders")
    assert not find("", None).behind
    late = asset("main.visits", indexed=False)
    asset("main.carts")
    assert find("", None).behind
    refresh([late.pk, asset("main.seats").pk])
    assert find("", None).behind  # nobody has read the carts in this round
    settled()
    import_manifest(shop(), actor=machine)
    assert not find("", None).behind


def test_a_change_that_left_no_trace_is_found_by_the_checking_round(owner: Person) -> None:
    rows = [asset(f"main.t{number}") for number in range(3)]
    settled()
    AssetRole.objects.create(asset=rows[1], person=owner, role="owner")
    Asset.objects.filter(pk=rows[2].pk).update(description="Letters")
    assert catch_up() == 2
    assert names("olive") == ["main.t1"]
    assert names("letters") == ["main.t2"]
    assert catch_up() == 0


def test_the_checking_round_goes_through_all_assets_and_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_index, "ROUND", 2)
    rows = [asset(f"main.t{number}") for number in range(5)]
    settled()
    SearchState.objects.update(checked=0)
    Asset.objects.filter(pk=rows[4].pk).update(description="Letters")
    assert [catch_up() for _ in range(4)] == [0, 0, 1, 0]
    assert SearchState.objects.get().checked == rows[1].pk


def test_reading_twice_changes_nothing_and_costs_no_write() -> None:
    row = asset("main.orders", columns=["amount"])
    words = SearchWord.objects.count(), SearchTrigram.objects.count()
    refresh([row.pk])
    assert (SearchWord.objects.count(), SearchTrigram.objects.count()) == words
    assert search_index._read([row.pk]) == 0


def test_unknown_assets_and_no_assets_are_nothing() -> None:
    assert refresh([]) == 0
    assert refresh([10**12]) == 1
    mark_due([])
    settled()
    assert not SearchEntry.objects.exists()


def test_numbers_and_digests_are_no_words_to_spell() -> None:
    asset("main.fct_orders_20260101", columns=["a1b2c3d4e5", "id", "total"])
    assert set(SearchWord.objects.values_list("word", flat=True)) == {"main", "fct", "orders", "total"}


def test_odd_columns_and_tags_break_nothing() -> None:
    row = asset("main.orders", columns=["", "x" * 5000, "a b", "🙂", "'\"\\"])
    other = asset("main.odd", tags=[None, 3, "", "ok"])  # type: ignore[list-item]
    assert refresh([row.pk, other.pk]) == 2
    assert names("ok") == ["main.odd"]


def test_a_table_of_very_many_columns_is_kept_as_far_as_it_goes() -> None:
    row = asset("main.wide", columns=[f"column_{number}" for number in range(20_000)])
    assert names("wide") == ["main.wide"]
    assert len(row.search_entry.column_words.split()) == 5000


def test_a_refresh_inside_a_transaction_goes_with_it() -> None:
    row = asset("main.orders", indexed=False)
    with suppress(ZeroDivisionError), transaction():
        refresh([row.pk])
        1 / 0  # noqa: B018
    assert not SearchEntry.objects.exists()
    assert names("orders") == ["main.orders"]


def test_columns_of_an_import_without_a_new_version_are_found(machine: Actor) -> None:
    columns = {"total": {"name": "total", "description": "Net amount"}}
    import_manifest(shop(model("returns", columns=columns)), actor=machine)
    assert names("total") == names("net amount") == ["dev.main.returns"]
    import_manifest(shop(), actor=machine)
    assert names("returns") == []


def test_two_sweeps_and_a_refresh_at_once_leave_the_index_whole(committing: str) -> None:
    actor = Actor(system("cli"), "cli")
    import_manifest(shop(*[model(f"orders_{number}") for number in range(40)]), actor=actor)
    ids = list(Asset.objects.values_list("pk", flat=True))
    failed: list[BaseException] = []

    def work(step: Callable[[], object]) -> None:
        try:
            for number in range(6):
                Asset.objects.filter(pk__in=ids).update(description=f"words{number}")
                step()
        except BaseException as error:
            failed.append(error)
        finally:
            connections.close_all()

    steps: list[Callable[[], object]] = [lambda: mark_due(ids), catch_up, lambda: refresh(ids)]
    threads = [threading.Thread(target=work, args=(step,)) for step in steps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    mark_due(ids)
    settled()
    last = Asset.objects.order_by().values_list("description", flat=True).distinct().get()
    assert texts()
    assert find(last, None).total == SearchEntry.objects.count() == len(ids)


def test_entries_that_were_changed_past_the_index_do_not_break_it() -> None:
    row = asset("main.orders", description="Parcels")
    SearchEntry.objects.filter(asset=row).update(name_words="nonsense", other_words="more nonsense")
    Asset.objects.filter(pk=row.pk).update(description="Letters")
    assert refresh([row.pk]) == 1
    assert texts() == {row.pk}
    assert names("letters") == ["main.orders"]
    assert names("nonsense") == names("parcels") == []


def test_domains_filter_by_the_truth_and_not_by_the_index() -> None:
    row = asset("main.orders", domain=Domain.objects.create(key="one", name="One"))
    settled()
    Asset.objects.filter(pk=row.pk).update(domain=Domain.objects.create(key="two", name="Two"))
    assert names("orders", domains=["two"]) == ["main.orders"]
    assert names("orders", domains=["one"]) == []
