"""The edges of one graph version as compact arrays, for walks over large graphs.

Rows of the database stay out of the walk: it runs on integers (compressed sparse rows, as in SciPy's csr_array) and
returns asset ids with their distance. A version never changes once it is made, so its arrays are kept and shared.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from threading import Lock
from typing import Literal, TypeAlias

import numpy as np
from django.db import connection
from django.db.models import Q
from numpy.typing import NDArray

from catalog.models import EdgeClaim, GraphHead, GraphVersion

Ids: TypeAlias = NDArray[np.int64]
Direction: TypeAlias = Literal["up", "down"]
KEPT = 4


@dataclass(frozen=True)
class Neighbours:
    """The neighbours of node i are `indices[starts[i]:starts[i + 1]]`."""

    starts: Ids
    indices: Ids

    @classmethod
    def of(cls, count: int, here: Ids, there: Ids) -> Neighbours:
        order = np.argsort(here, kind="stable")
        starts = np.zeros(count + 1, dtype=np.int64)
        np.cumsum(np.bincount(here, minlength=count), out=starts[1:])
        return cls(starts, there[order])

    def of_all(self, nodes: Ids) -> Ids:
        """The neighbours of all `nodes`, with repetitions."""
        begin = self.starts[nodes]
        counts = self.starts[nodes + 1] - begin
        shifts = np.repeat(begin - (np.cumsum(counts) - counts), counts)
        return self.indices[shifts + np.arange(shifts.size, dtype=np.int64)]


@dataclass(frozen=True)
class Walk:
    """The assets reached, nearest first, then by id; `hops[i]` is the distance of `ids[i]`, at least 1."""

    ids: Ids
    hops: Ids


@dataclass(frozen=True)
class Adjacency:
    """All edges of graph version `version`; `ids` are the asset ids that have any, in ascending order."""

    version: int
    ids: Ids
    down: Neighbours
    up: Neighbours

    @classmethod
    def of(cls, version: int, pairs: Ids) -> Adjacency:
        """From an array of shape (edges, 2) of asset ids, each row (from, to)."""
        ids, flat = np.unique(pairs, return_inverse=True)
        ends = flat.reshape(-1, 2).astype(np.int64)
        count = int(ids.size)
        return cls(
            version, ids, Neighbours.of(count, ends[:, 0], ends[:, 1]), Neighbours.of(count, ends[:, 1], ends[:, 0])
        )

    def walk(self, asset_id: int, direction: Direction) -> Walk:
        """Everything that `asset_id` feeds ("down") or is fed by ("up"), each once, without itself; cycles are fine.

        >>> graph = Adjacency.of(1, np.array([[1, 2], [2, 3], [3, 1]]))
        >>> graph.walk(1, "down").ids.tolist(), graph.walk(1, "down").hops.tolist()
        ([2, 3], [1, 2])
        """
        start = self._index(asset_id)
        if start is None:
            return Walk(np.empty(0, np.int64), np.empty(0, np.int64))
        neighbours = self.down if direction == "down" else self.up
        seen = np.zeros(self.ids.size, dtype=bool)
        seen[start] = True
        levels, frontier = [], np.array([start], dtype=np.int64)
        while frontier.size:
            found = neighbours.of_all(frontier)
            frontier = np.unique(found[~seen[found]])
            seen[frontier] = True
            levels.append(frontier)
        hops = np.repeat(np.arange(1, len(levels) + 1, dtype=np.int64), [level.size for level in levels])
        return Walk(self.ids[np.concatenate(levels)], hops)

    def neighbours(self, asset_id: int, direction: Direction) -> list[int]:
        """The ids of the assets one edge away, ascending."""
        index = self._index(asset_id)
        if index is None:
            return []
        side = self.down if direction == "down" else self.up
        found: list[int] = self.ids[np.unique(side.of_all(np.array([index], dtype=np.int64)))].tolist()
        return found

    def _index(self, asset_id: int) -> int | None:
        index = int(np.searchsorted(self.ids, asset_id))
        return index if index < self.ids.size and int(self.ids[index]) == asset_id else None


_Key: TypeAlias = tuple[str, int, datetime | None]
_kept: OrderedDict[_Key, Adjacency] = OrderedDict()
_lock = Lock()


def head_version() -> int:
    """The number of the newest graph version; 0 before the first."""
    return GraphHead.objects.values_list("version", flat=True).first() or 0


def adjacency(version: int | None = None) -> Adjacency:
    """The edges that any source claims in graph version `version` (default: the newest)."""
    number = head_version() if version is None else version
    at = GraphVersion.objects.filter(number=number).values_list("at", flat=True).first()
    # The moment tells versions apart whose number was given twice because the first was rolled back.
    key = (str(connection.settings_dict["NAME"]), number, at)
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    made = _load(number)
    with _lock:
        _kept[key] = made
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return made


def _load(number: int) -> Adjacency:
    standing = Q(removed_in__isnull=True) | Q(removed_in__gt=number)
    pairs = (
        EdgeClaim.objects.filter(standing, added_in__lte=number).values_list("from_asset_id", "to_asset_id").distinct()
    )
    flat = np.fromiter(chain.from_iterable(pairs.iterator(chunk_size=10_000)), dtype=np.int64)
    return Adjacency.of(number, flat.reshape(-1, 2))
