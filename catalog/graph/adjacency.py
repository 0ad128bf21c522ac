"""The graph of a version as arrays: from memory, from the base file with what changed since, or from the database.

A version never changes once it is made, so its arrays are kept and shared. A new one is the nearest known one with the
claims that were added and removed between; only a graph of which nothing is known is read in full.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from catalog.graph import adjacency_file, adjacency_rows
from catalog.graph.neighbours import Nodes
from catalog.graph.versions import head_version
from catalog.graph.walks import UNKNOWN_KIND, Adjacency, Direction, Ids
from catalog.models import GraphVersion

__all__ = ["Adjacency", "Direction", "adjacency"]

KEPT = 4
KEPT_BYTES = 120_000_000
FILED = 50_000
"""Graphs with fewer edges are read from the database in the time that a file takes."""
FEW = 2_000
"""As many changed claims are always applied; more when they are few beside the graph."""

_Key: TypeAlias = tuple[str, int, datetime | None]
_kept: OrderedDict[_Key, Adjacency] = OrderedDict()
_lock = Lock()
_making = Lock()


def adjacency(version: int | None = None, *, at: datetime | None = None) -> Adjacency:
    """The edges that any source claims in graph version `version` (default: the newest).

    Whoever knows when that version was made says it in `at` and saves a query.
    """
    number = head_version() if version is None else version
    at = at or GraphVersion.objects.filter(number=number).values_list("at", flat=True).first()
    # The moment tells versions apart whose number was given twice because the first was rolled back.
    key = (_name(), number, at)
    found = _recall(key)
    if found is None:
        with _making:  # the arrays of a large graph are not made twice at once
            found = _recall(key) or _keep(key, _made(number, at))
    return found


def _name() -> str:
    return str(connection.settings_dict["NAME"])


def _recall(key: _Key) -> Adjacency | None:
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
        return _kept.get(key)


def _keep(key: _Key, graph: Adjacency) -> Adjacency:
    with _lock:
        _kept[key] = graph
        while len(_kept) > KEPT or (len(_kept) > 1 and sum(one.nbytes for one in _kept.values()) > KEPT_BYTES):
            _kept.popitem(last=False)
    return graph


def _made(number: int, at: datetime | None) -> Adjacency:
    known = _nearest(number)
    graph = (_changed(known, number) if known else None) or _read(number)
    worn = known is None or graph.behind > graph.down.indices.size // 20
    # In a transaction the version may not be committed yet, and a file would outlive it.
    if worn and graph.down.indices.size >= FILED and not connection.in_atomic_block:
        adjacency_file.save(graph, at)
        return graph.with_same_edges(behind=0)
    return graph


@dataclass(frozen=True)
class _Known:
    version: int
    source: Adjacency | adjacency_file.Base


def _nearest(number: int) -> Adjacency | None:
    """The graph of the nearest version that is in memory or in a file; one that was rolled back is passed over."""
    with _lock:
        kept = {key: graph for key, graph in _kept.items() if key[0] == _name() and key[2] is not None}
    files = adjacency_file.found()
    versions = {key[1] for key in kept} | {base.version for base in files}
    at = dict(GraphVersion.objects.filter(number__in=versions).values_list("number", "at"))
    known = [_Known(key[1], graph) for key, graph in kept.items() if at.get(key[1]) == key[2]]
    known += [_Known(base.version, base) for base in files if base.version in at]
    for one in sorted(known, key=lambda one: abs(one.version - number)):
        found = one.source if isinstance(one.source, Adjacency) else adjacency_file.load(one.source, at[one.version])
        if found is not None:
            return found
    return None


def _read(number: int) -> Adjacency:
    graph = Adjacency.of(number, adjacency_rows.pairs(number))
    ids, kinds = adjacency_rows.kinds()
    return _with_kinds(graph, ids, kinds)


def _changed(base: Adjacency, number: int) -> Adjacency | None:
    """`base` as it is in version `number`; None when too much changed, or when it cannot have been the base of it."""
    most = max(FEW, base.down.indices.size // 10)
    rows = adjacency_rows.changes(base.version, number, most=most)
    if rows is None:
        return None
    grown = _with_edges(base, number, rows) if rows.size else base.with_same_edges(version=number)
    if grown is None:
        return None
    new = grown.ids[base.ids.size :].tolist()
    kinds = adjacency_rows.changed_kinds(base.version, number, new, most=most)
    if kinds is None:
        return _with_kinds(grown, *adjacency_rows.kinds())
    return _with_kinds(grown, np.array(list(kinds), dtype=np.int64), kinds.values()) if kinds else grown


def _with_edges(base: Adjacency, number: int, rows: NDArray[np.int64]) -> Adjacency | None:
    ids, by_id = _with_nodes(base, np.unique(rows[:, :2]))
    count = ids.size
    starts = np.pad(base.down.starts, (0, count - base.ids.size), mode="edge")
    old = csr_array((base.claims, base.down.indices, starts), shape=(count, count))
    ends = by_id[np.searchsorted(ids, rows[:, :2], sorter=by_id)]
    delta = coo_array((rows[:, 2].astype(np.int16), (ends[:, 0], ends[:, 1])), shape=(count, count)).tocsr()
    matrix: Any = old + delta  # an edge of which no claim is left is dropped by the sum
    if matrix.nnz and int(matrix.data.min()) < 0:
        return None
    kinds = np.pad(base.kinds, (0, count - base.kinds.size))
    behind = base.behind + len(rows)
    return Adjacency.from_matrix(number, ids, by_id, matrix, kinds, base.kind_names, behind)


def _with_nodes(base: Adjacency, asset_ids: Ids) -> tuple[Ids, Nodes]:
    """The nodes of `base` and one more for each asset that it does not have; the old ones keep their numbers."""
    new = asset_ids[base.nodes(asset_ids) < 0]
    place = np.searchsorted(base.ids, new, sorter=base.by_id)
    numbers = np.arange(base.ids.size, base.ids.size + new.size, dtype=np.int32)
    return np.concatenate([base.ids, new]), np.insert(base.by_id, place, numbers)


def _with_kinds(graph: Adjacency, ids: Ids, kinds: Iterable[str]) -> Adjacency:
    """`graph` with the kinds of the assets `ids`; those of others stay."""
    names = {name: place for place, name in enumerate(graph.kind_names or (UNKNOWN_KIND,))}
    codes = np.fromiter((names.setdefault(kind, len(names)) for kind in kinds), dtype=np.uint16, count=ids.size)
    nodes = graph.nodes(ids)
    changed = graph.kinds.copy()
    changed[nodes[nodes >= 0]] = codes[nodes >= 0]
    return graph.with_same_edges(kinds=changed, kind_names=tuple(names))
