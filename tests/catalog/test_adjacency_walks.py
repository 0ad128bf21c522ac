"""Walks over arrays: right on any graph, cycles included, whatever the numbers of its assets."""

from __future__ import annotations

import random
from typing import Any

import networkx
import numpy as np
import pytest

from catalog.graph import neighbours, numbering
from catalog.graph.walks import Adjacency, Direction


def graph_of(seed: int) -> tuple[Adjacency, Any, random.Random]:
    """A random graph with cycles, edges named twice and edges to themselves, as ours and as that of NetworkX."""
    pick = random.Random(seed)  # noqa: S311
    count, stride = pick.randint(1, 40), pick.choice([1, 7, 10**9])
    pairs = [(pick.randrange(count) * stride, pick.randrange(count) * stride) for _ in range(pick.randint(1, 120))]
    return Adjacency.of(1, np.array(pairs)), networkx.DiGraph(pairs), pick


@pytest.mark.parametrize("hundred", range(10))
def test_walks_agree_with_networkx_on_graphs_with_cycles(hundred: int) -> None:
    for seed in range(100 * hundred, 100 * hundred + 100):
        graph, other, pick = graph_of(seed)
        start, hops = pick.choice(list(other.nodes)), pick.randint(1, 4)
        sides: list[tuple[Direction, Any]] = [("down", other), ("up", other.reverse())]
        for direction, side in sides:
            agree(graph, side, direction, start, hops)


def agree(graph: Adjacency, side: Any, direction: Direction, start: int, hops: int) -> None:
    walk, near = graph.walk(start, direction), graph.walk(start, direction, hops)
    expected = networkx.single_source_shortest_path_length(side, start)
    assert set(walk.ids.tolist()) == networkx.descendants(side, start)
    del expected[start]
    listed = list(zip(walk.hops.tolist(), walk.ids.tolist(), strict=True))
    assert listed == sorted((hop, pk) for pk, hop in expected.items())
    assert near.ids.tolist() == [pk for hop, pk in listed if hop <= hops]
    assert walk.total == near.total == len(expected)
    assert walk.via.tolist() == [first_before(side, {**expected, start: 0}, pk) for _, pk in listed]
    assert graph.neighbours(start, direction) == sorted(side.successors(start))


def first_before(side: Any, distance: dict[int, int], pk: int) -> int:
    """The asset with the lowest id of those one edge nearer to the start."""
    return int(min(one for one in side.predecessors(pk) if distance.get(one) == distance[pk] - 1))


@pytest.mark.parametrize("seed", range(50))
def test_what_lies_on_a_cycle_is_known(seed: int) -> None:
    graph, other, _ = graph_of(seed)
    parts = (part for part in networkx.strongly_connected_components(other) if len(part) > 1)
    on_one = {pk for part in parts for pk in part} | {pk for pk in other if other.has_edge(pk, pk)}
    assert set(graph.ids[graph.cyclic].tolist()) == on_one
    assert {pk for pk in other if graph.walk(pk, "down").cycle} == on_one


@pytest.mark.parametrize("seed", range(50))
def test_the_edges_among_some_assets_are_those_of_the_subgraph(seed: int) -> None:
    graph, other, pick = graph_of(seed)
    some = pick.sample(sorted(other.nodes), k=max(1, len(other) // 2))
    edges = graph.edges(graph.nodes(np.array(some)))
    assert set(edges) == set(other.subgraph(some).edges)
    assert len(edges) == len(set(edges))


def test_a_chain_deeper_than_any_estate_is_walked() -> None:
    count = 3 * neighbours.FEW_LEVELS
    chain = Adjacency.of(1, np.stack([np.arange(count), np.arange(1, count + 1)], axis=1))
    walk = chain.walk(0, "down")
    assert walk.ids.tolist() == walk.hops.tolist() == list(range(1, count + 1))
    assert chain.walk(count, "up", 2).ids.tolist() == [count - 1, count - 2]


def test_ids_far_apart_and_close_together_give_the_same_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = np.array([[5, 9], [9, 7], [7, 5], [2, 9]])
    marked = Adjacency.of(1, pairs)
    monkeypatch.setattr(numbering, "SPARSE", 0)
    sorted_ = Adjacency.of(1, pairs)
    for pk in (2, 5, 7, 9):
        assert marked.walk(pk, "down").ids.tolist() == sorted_.walk(pk, "down").ids.tolist()


def test_an_id_outside_the_graph_reaches_nothing() -> None:
    graph = Adjacency.of(1, np.array([[1, 2]]))
    for walk in (graph.walk(9, "down"), graph.walk(2, "down"), Adjacency.of(0, np.empty((0, 2))).walk(1, "up")):
        assert (len(walk), walk.total, walk.cycle) == (0, 0, False)
        assert walk.ids.tolist() == walk.hops.tolist() == walk.via.tolist() == []
    assert graph.neighbours(0, "up") == []


def test_what_stands_before_an_asset_on_the_shortest_ways() -> None:
    walk = Adjacency.of(1, np.array([[1, 2], [1, 3], [2, 4], [3, 4], [4, 5], [1, 5]])).walk(1, "down")
    assert walk.before(4) == [2, 3]
    assert walk.before(2) == walk.before(5) == walk.before(99) == []
