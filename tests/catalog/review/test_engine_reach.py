"""Who is reached by a change: names as people write them, readers of readers, tables that no manifest describes."""

from __future__ import annotations

import random
from typing import Any

import networkx
import pytest

from catalog.review.estate.estate import Estate
from catalog.review.estate.ways import Way, best
from catalog.review.known.knowledge import gather
from catalog.review.types import DANGEROUS, Knowledge, KnownAsset, KnownReader
from tests.catalog.dbt_files import model, source
from tests.catalog.review.pairs import build, change_of, known, node, reviewed, sync

EXPOSURE = {
    "unique_id": "exposure.shop.board", "resource_type": "exposure", "name": "board", "label": "The Board",
    "type": "dashboard", "package_name": "shop", "owner": {"name": "Bea", "email": None},
    "depends_on": {"nodes": ["model.shop.c"], "macros": []},
}  # fmt: skip


def chain(tail: str = "", *more: dict[str, Any]) -> Any:
    """a -> b -> c, of which a changes."""
    return build(
        node("a", f"select 1 as id, 2 as x{tail}"), node("b", "select id, x from {a}"),
        node("c", "select id from {b}"), *more,
    )  # fmt: skip


FILTER = " where 1 = 0"


def readers(*given: KnownReader, more: tuple[dict[str, Any], ...] = (), **fields: Any) -> list[tuple[Any, ...]]:
    found = reviewed(chain("", *more), chain(FILTER, *more), known(*given, **fields))
    return [(one.name, one.hops, one.through, one.certain) for one in change_of(found, "a").readers]


@pytest.mark.parametrize(
    "name",
    ["model.shop.c", "shop.main.c", '"shop"."main"."C"', "MAIN.C", "c", "duckdb://x/shop.main.c", "{{ ref('c') }}"],
)
def test_a_table_is_found_by_any_of_its_names(name: str) -> None:
    assert readers(sync("s", name)) == [("s", 3, ("b", "c"), True)]


def test_a_table_of_another_schema_is_taken_for_the_one_of_the_build_but_not_for_certain() -> None:
    assert readers(sync("s", "prod.analytics.c")) == [("s", 3, ("b", "c"), False)]


def test_a_short_name_that_means_several_counts_for_all_of_them_and_is_told() -> None:
    other = source("c")
    found = reviewed(chain("", other), chain(FILTER, other), known(sync("s", "c")))
    (reader,) = change_of(found, "a").readers
    assert not reader.certain
    assert any("may mean" in note and "source.shop.app.c" in note for note in found.notes)


def test_names_that_nobody_knows_and_readers_without_any_are_told() -> None:
    found = reviewed(chain(), chain(FILTER), known(sync("s", "elsewhere"), KnownReader("t", "dashboard", ())))
    assert change_of(found, "a").readers == ()
    assert any("s reads elsewhere, which no table here is called" in note for note in found.notes)
    assert any("not known what the dashboard t reads" in note for note in found.notes)


def test_readers_of_readers_and_tables_beyond_the_manifest_are_followed() -> None:
    found = readers(
        sync("s", "view_of_c"),
        KnownReader("d", "dashboard", ("s",)),
        assets=(KnownAsset("shop.reports.view_of_c", "view", reads=("shop.main.c",)),),
    )
    assert found == [
        ("s", 4, ("b", "c", "shop.reports.view_of_c"), True),
        ("d", 5, ("b", "c", "shop.reports.view_of_c", "s"), True),
    ]


def test_an_exposure_is_a_reader_also_when_nobody_declared_it_and_only_once() -> None:
    before, after = chain("", EXPOSURE), chain(FILTER, EXPOSURE)
    found = reviewed(before, after, gather(before, after))
    assert [(one.name, one.hops, one.through) for one in found.readers] == [("The Board", 3, ("b", "c"))]
    declared = {"consumers": [{"asset": "the board", "kind": "dashboard", "reads": "shop.main.c"}]}
    found = reviewed(before, after, gather(before, after, declared=[("spellbook.yml", declared)]))
    assert [(one.name, one.source) for one in found.readers] == [("The Board", "spellbook.yml, dbt exposures")]


def test_what_the_gathering_did_not_tell_is_no_reader_whatever_its_sources_are_called() -> None:
    for sources in ((), ("not from dbt exposures",)):
        found = reviewed(chain("", EXPOSURE), chain(FILTER, EXPOSURE), Knowledge(sources=sources))
        assert (found.readers, found.readers_known) == ((), bool(sources))


def test_readers_come_by_time_to_damage_and_those_without_a_time_last() -> None:
    found = readers(
        sync("later", "c", cron="0 9 * * *", zone="UTC"),
        KnownReader("never", "dashboard", ("c",)),
        sync("soon", "c", cron="30 5 * * *", zone="UTC"),
        sync("api", "c", triggered_by_api=True),
        sync("strange zone", "c", zone="Nowhere/At_all"),
    )
    assert [one[0] for one in found] == ["soon", "later", "api", "strange zone", "never"]


def test_what_is_reached_is_counted_by_kind_and_named_from_near_to_far() -> None:
    change = change_of(reviewed(chain(), chain(FILTER)), "a")
    assert (dict(change.reached), change.nearest) == ({"model": 2}, ("b", "c"))


def test_a_metric_lets_through_what_is_built_on_it() -> None:
    metric = {"unique_id": "metric.shop.m", "resource_type": "metric", "name": "m", "package_name": "shop",
              "depends_on": {"nodes": ["model.shop.c"], "macros": []}}  # fmt: skip
    board = {**EXPOSURE, "depends_on": {"nodes": ["metric.shop.m"], "macros": []}}
    before, after = chain("", metric, board), chain(FILTER, metric, board)
    found = reviewed(before, after, gather(before, after))
    assert [(one.name, one.hops, one.through) for one in found.readers] == [("The Board", 4, ("b", "c", "m"))]


def test_a_removed_model_is_followed_over_the_edges_that_it_had() -> None:
    before = build(node("a", "select 1 as id"), node("b", "select id from {a}"), node("c", "select id from {b}"))
    after = build(node("b", "select 1 as id"), node("c", "select id from {b}"))
    found = reviewed(before, after, known(sync("s", "c"), sync("direct", "shop.main.a")))
    change = change_of(found, "a")
    assert (change.action, change.verdict) == ("removed", DANGEROUS)
    assert {one.name for one in change.readers} == {"s", "direct"}
    assert "the table that the Mirror sync direct" in change.reasons[0]
    assert not any("sync s " in reason for reason in change.reasons if "no longer built" in reason)


def test_of_two_ways_the_certain_one_counts_and_then_the_shorter_one() -> None:
    doubtful, sure, longer = Way(1, 0, False), Way(3, 2, True), Way(4, 2, True)
    assert best([{7: doubtful}, {7: sure}]) == best([{7: sure}, {7: doubtful}]) == {7: sure}
    assert best([{7: longer, 8: doubtful}, {7: sure, 9: Way(2, 0, True)}]) == {9: Way(2, 0, True), 7: sure, 8: doubtful}


def test_a_reader_that_a_renamed_table_surely_reaches_is_certain_though_its_old_name_is_doubtful() -> None:
    before = build(node("old", "select 1 as id"), source("old"))
    after = build(node("new", "select 1 as id"), source("old"))
    found = reviewed(before, after, known(sync("s", "old", "model.shop.new")))
    change = change_of(found, "new")
    assert (change.action, change.was) == ("renamed", "model.shop.old")
    assert [(one.name, one.certain) for one in change.readers] == [("s", True)]


def test_a_cycle_ends() -> None:
    cyclic = [model(name, "select 1", f"model.shop.{above}") for name, above in (("a", "c"), ("b", "a"), ("c", "b"))]
    changed = [model("a", "select 2", "model.shop.c"), *cyclic[1:]]
    change = change_of(reviewed(build(*cyclic), build(*changed), known(sync("s", "c"))), "a")
    assert (dict(change.reached), [one.hops for one in change.readers]) == ({"model": 2}, [3])


@pytest.mark.parametrize("number", range(25))
def test_reach_equals_the_descendants_in_random_graphs(number: int) -> None:
    chance = random.Random(number)  # noqa: S311 -- graphs for a test
    graph = networkx.gnp_random_graph(chance.randint(2, 40), chance.random() * 0.15, seed=number, directed=True)
    graph.remove_edges_from(list(networkx.selfloop_edges(graph)))
    entries = [
        model(f"m{one}", "select 1", *(f"model.shop.m{above}" for above in graph.predecessors(one))) for one in graph
    ]
    manifest = build(*entries)
    estate = Estate(manifest, manifest, Knowledge())
    for one in graph:
        ways = estate.reach(estate.places[f"model.shop.m{one}"])
        assert ways is not None
        found = {estate.vertices[place].label: way.hops for place, way in ways.items()}
        lengths = networkx.single_source_shortest_path_length(graph, one)
        assert found == {f"m{other}": length for other, length in lengths.items() if other != one}
        assert set(found) == {f"m{other}" for other in networkx.descendants(graph, one)}
