"""The edges of one graph version as compact arrays, and walks over them (D6).

Rows of the database stay out of a walk: it runs on integers and returns asset ids with their distance. A version never
changes once it is made, so its arrays are kept and shared: `catalog.graph.adjacency` finds them for a version.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from catalog.graph.neighbours import Neighbours, Nodes
from catalog.graph.numbering import compact, matrix_of, numbering

Ids: TypeAlias = NDArray[np.int64]
Direction: TypeAlias = Literal["up", "down"]
UNKNOWN_KIND = ""


@dataclass(frozen=True)
class Adjacency:
    """All edges of graph version `version` between nodes 0, 1, ...

    `ids` are the asset ids by node, `by_id` the nodes by ascending id, `claims` how many claims stand behind each edge
    of `down`, `kinds` the place in `kind_names` by node. Nodes are numbered so that neighbours lie near each other in
    memory; the numbers mean nothing outside.
    """

    version: int
    ids: Ids
    by_id: Nodes
    down: Neighbours
    up: Neighbours
    claims: NDArray[np.int16]
    kinds: NDArray[np.uint16]
    kind_names: tuple[str, ...] = (UNKNOWN_KIND,)
    behind: int = field(default=0, compare=False)
    """How many changed claims lie between the file that it was made from and this version."""

    @classmethod
    def of(cls, version: int, pairs: NDArray[Any]) -> Adjacency:
        """From an array of shape (claims, 2) of asset ids, each row (from, to); kinds are not known."""
        ids, ends = compact(np.asarray(pairs, dtype=np.int64).reshape(-1, 2))
        count = int(ids.size)
        order = numbering(matrix_of(ends, count))
        number = np.empty(count, dtype=np.int32)
        number[order] = np.arange(count, dtype=np.int32)
        kinds = np.zeros(count, dtype=np.uint16)
        return cls.from_matrix(version, ids[order], number, matrix_of(number[ends], count), kinds, (UNKNOWN_KIND,))

    @classmethod
    def from_matrix(
        cls,
        version: int,
        ids: Ids,
        by_id: Nodes,
        matrix: Any,
        kinds: NDArray[np.uint16],
        kind_names: Sequence[str],
        behind: int = 0,
    ) -> Adjacency:
        """From a matrix in compressed rows whose values count the claims of each edge."""
        down, up = Neighbours.of(matrix), Neighbours.of(matrix.tocsc())
        return cls(version, ids, by_id, down, up, matrix.data, kinds, tuple(kind_names), behind)

    def with_same_edges(self, **changes: Any) -> Adjacency:
        """This with other facts about the same nodes and edges; what was computed of the edges is kept."""
        other = replace(self, **changes)
        vars(other).update({name: vars(self)[name] for name in ("rank", "cyclic") if name in vars(self)})
        return other

    def walk(self, asset_id: int, direction: Direction, hops: int | None = None) -> Walk:
        """Everything that `asset_id` feeds ("down") or is fed by ("up"), each once, without itself; cycles are fine.

        `hops` cuts it there, at least 1. An asset that has no edge here reaches nothing.

        >>> graph = Adjacency.of(1, np.array([[1, 2], [2, 3], [3, 1]]))
        >>> walk = graph.walk(1, "down")
        >>> walk.ids.tolist(), walk.hops.tolist(), walk.via.tolist(), walk.cycle
        ([2, 3], [1, 2], [1, 2], True)
        """
        start = self.node(asset_id)
        if start is None:
            return Walk(self, direction, np.empty(0, np.int32), (0,), 0)
        nodes, begins = self._side(direction).levels(start)
        total = int(nodes.size) - 1
        kept = begins if hops is None else begins[: hops + 2]
        return Walk(self, direction, nodes[: kept[-1]], tuple(kept), total)

    def neighbours(self, asset_id: int, direction: Direction) -> list[int]:
        """The ids of the assets one edge away, ascending."""
        node = self.node(asset_id)
        if node is None:
            return []
        found: list[int] = np.sort(self.ids[self._side(direction).of_node(node)]).tolist()
        return found

    def node(self, asset_id: int) -> int | None:
        """The node of an asset; None when it has no edge."""
        (found,) = self.nodes(np.array([asset_id]))
        return None if found < 0 else int(found)

    def nodes(self, asset_ids: NDArray[Any]) -> Nodes:
        """The nodes of assets, -1 for each that has no edge."""
        if not self.ids.size:
            return np.full(asset_ids.size, -1, dtype=np.int32)
        place = np.searchsorted(self.ids, asset_ids, sorter=self.by_id)
        found = self.by_id[np.minimum(place, self.ids.size - 1)]
        return np.where(self.ids[found] == asset_ids, found, np.int32(-1)).astype(np.int32, copy=False)

    def edges(self, nodes: Nodes) -> list[tuple[int, int]]:
        """The edges among `nodes` as pairs of asset ids, in the order of `nodes`, then by id."""
        inside = np.zeros(self.ids.size, dtype=bool)
        inside[nodes] = True
        ends, counts = self.down.of_all(nodes)
        place = np.repeat(np.arange(nodes.size), counts)
        kept = inside[ends]
        place, below = place[kept], self.ids[ends[kept]]
        order = np.lexsort((below, place))
        return list(zip(self.ids[nodes[place[order]]].tolist(), below[order].tolist(), strict=True))

    @cached_property
    def rank(self) -> Nodes:
        """The place of each node among all by ascending asset id."""
        rank = np.empty(self.ids.size, dtype=np.int32)
        rank[self.by_id] = np.arange(self.ids.size, dtype=np.int32)
        return rank

    @cached_property
    def cyclic(self) -> NDArray[np.bool_]:
        """By node: whether a way leads from it back to itself (Tarjan's strong components; an edge to itself too)."""
        if not self.ids.size:
            return np.zeros(0, dtype=bool)
        _, part = connected_components(self.down.matrix, directed=True, connection="strong")
        found: NDArray[np.bool_] = np.bincount(part)[part] > 1
        starts = np.repeat(np.arange(self.ids.size, dtype=np.int32), np.diff(self.down.starts))
        found[starts[starts == self.down.indices]] = True
        return found

    @property
    def nbytes(self) -> int:
        """The memory of the arrays, those in a mapped file included."""
        return sum(part.nbytes for part in (self.ids, self.by_id, self.down, self.up, self.claims, self.kinds))

    def _side(self, direction: Direction) -> Neighbours:
        return self.down if direction == "down" else self.up


class Walk:
    """The assets reached from one, nearest first, then by id.

    `total` counts all, also those behind a hop limit. `ids`, `hops` (at least 1) and `via` (the asset before it on one
    shortest way: of several the one with the lowest id) are arrays of one length, made when they are asked for.
    """

    def __init__(self, graph: Adjacency, direction: Direction, found: Nodes, begins: tuple[int, ...], total: int):
        self.graph, self.direction, self.total = graph, direction, total
        self.found = found
        """The start and the nodes reached as they were found: nearest first, in no order within one distance."""
        self.begins = begins

    def __len__(self) -> int:
        return max(0, int(self.found.size) - 1)

    @cached_property
    def nodes(self) -> Nodes:
        """The nodes reached, nearest first, then by asset id."""
        ranks = self.graph.rank[self.found]
        for start, end in zip(self.begins, self.begins[1:], strict=False):
            if end - start > 1:
                ranks[start:end].sort()
        return self.graph.by_id[ranks[1:]]

    @cached_property
    def ids(self) -> Ids:
        return self.graph.ids[self.nodes]

    @cached_property
    def hops(self) -> Nodes:
        sizes = np.diff(self.begins)[1:]
        return np.repeat(np.arange(1, sizes.size + 1, dtype=np.int32), sizes)

    @cached_property
    def via(self) -> Ids:
        return self.via_of(self.nodes)

    @cached_property
    def distance(self) -> Nodes:
        """By node: its distance, 0 for the start, -1 where it was not reached."""
        distance = np.full(self.graph.ids.size, -1, dtype=np.int32)
        distance[self.found] = np.repeat(np.arange(len(self.begins) - 1, dtype=np.int32), np.diff(self.begins))
        return distance

    def via_of(self, nodes: Nodes) -> Ids:
        """The asset before each of these reached nodes on one shortest way from the start."""
        if not nodes.size:
            return np.empty(0, dtype=np.int64)
        side = self.graph.up if self.direction == "down" else self.graph.down
        near, counts = side.of_all(nodes)
        nearer = self.distance[near] == np.repeat(self.distance[nodes] - 1, counts)
        ranks = np.where(nearer, self.graph.rank[near], np.iinfo(np.int32).max)
        first = np.minimum.reduceat(ranks, np.cumsum(counts) - counts)
        return self.graph.ids[self.graph.by_id[first]]

    def before(self, asset_id: int) -> list[int]:
        """The assets one edge nearer to the start than a reached one, ascending; empty where that is the start."""
        node = self.graph.node(asset_id)
        if node is None or self.distance[node] < 2:
            return []
        near = (self.graph.up if self.direction == "down" else self.graph.down).of_node(node)
        found: list[int] = np.sort(self.graph.ids[near[self.distance[near] == self.distance[node] - 1]]).tolist()
        return found

    @property
    def cycle(self) -> bool:
        """Whether a way leads from the start back to itself, however long."""
        return bool(self.found.size) and bool(self.graph.cyclic[self.found[0]])
