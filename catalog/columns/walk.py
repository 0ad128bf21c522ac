"""The walk from column to column over the edges of the graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from catalog.columns.entries import REST, ROWS, Entry, find, sources_of, tables_of
from catalog.columns.rows import Lineage, Lineages
from catalog.graph.adjacency import Adjacency, Direction, adjacency
from catalog.models import Asset
from foundation.bulk import among

MOST_VISITED = 20_000
"""A walk ends here, and says so."""
LEAVES = frozenset({"source", "seed", "stream"})
"""Kinds whose columns come from outside of the graph."""
CODED = frozenset({"source", "seed", "model", "snapshot", "table", "view", "feature_view", "cohort"})
READER = "it reads the table as a whole"
NOT_TOLD = "its code does not tell what the column is made of"
SOME = "which of its columns are meant is not known"
NOT_NAMED = "its code, as far as it was read, does not name the table"
BEYOND = "it lies beyond an asset of which only the table is known"


class Step(NamedTuple):
    """A column reached: of an asset, or of a table that no asset is (`asset_id` None, its name in `table`).

    `via` is the column before it on a shortest way, `confidence` that of the weakest step on it.
    """

    asset_id: int | None
    column: str
    hops: int
    kind: str
    confidence: int
    via: tuple[int, str] | None = None
    table: str = ""


class RowStep(NamedTuple):
    """`asset_id` is a table whose rows are decided by the column `by` of `by_asset` (None: of `by_table`)."""

    asset_id: int
    by_asset: int | None
    by_table: str
    by: str
    hops: int
    confidence: int


class Fallback(NamedTuple):
    """An asset that is reached, but of which no column can be told, and why."""

    asset_id: int
    hops: int
    reason: str


class Walker:
    """One walk: `walk` fills `nodes`, `rows` and `fallback`, each nearest first, and `stopped` when it was too long."""

    def __init__(self, lineages: Lineages, version: int, direction: Direction, hops: int | None) -> None:
        self.lineages, self.graph, self.direction = lineages, adjacency(version), direction
        self.most = hops
        self.nodes: list[Step] = []
        self.rows: dict[tuple[int, int | str, str], RowStep] = {}
        self.fallback: dict[int, Fallback] = {}
        self.stopped = False
        self._seen: set[tuple[int | str, str]] = set()

    def walk(self, asset_id: int, column: str) -> None:
        """Go from the column to everything that it reaches."""
        self._seen.add((asset_id, column.casefold()))
        frontier, hop = [Step(asset_id, column, 0, "identity", 100)], 0
        while frontier and not self.stopped and (self.most is None or hop < self.most):
            hop += 1
            frontier = self._up(frontier, hop) if self.direction == "up" else self._down(frontier, hop)
            self.nodes += frontier
            self.stopped = len(self.nodes) > MOST_VISITED
        self.fallback = {one.asset_id: one for one in beyond(self.graph, self.direction, self.fallback, self.most)}

    def _up(self, frontier: Sequence[Step], hop: int) -> list[Step]:
        asked = [(one, one.asset_id) for one in frontier if one.asset_id is not None]
        known = self.lineages.of(sorted({pk for _, pk in asked}))
        found: list[Step] = []
        silent: dict[int, str] = {}
        for one, pk in asked:
            name, entry = find(known[pk].columns, one.column)
            if entry is None:
                silent[pk] = NOT_TOLD if known[pk].readable else known[pk].reason
            for table, column in sources_of(entry, name):
                found += self._above(table, column, one, entry, hop) if entry else []
            self._rows_above(one, pk, known[pk], hop)
        kinds = _kinds(silent)
        for pk, why in silent.items():
            if kinds.get(pk) not in LEAVES:
                self._fall_back(pk, hop - 1, why if kinds.get(pk) in CODED else READER)
        return found

    def _above(self, table: int | str, column: str | None, one: Step, entry: Entry, hop: int) -> list[Step]:
        if column is not None:
            return self._add(table, column, one, entry, hop)
        if isinstance(table, int):
            self._fall_back(table, hop, SOME)
        return []

    def _rows_above(self, one: Step, pk: int, lineage: Lineage, hop: int) -> None:
        entry = lineage.columns.get(ROWS)
        for table, column in sources_of(entry):
            if entry is not None:
                self._row(pk, table, column or "", hop, min(one.confidence, entry["confidence"]))

    def _down(self, frontier: Sequence[Step], hop: int) -> list[Step]:
        wanted: dict[int, dict[str, Step]] = defaultdict(dict)
        for one in frontier:
            if one.asset_id is not None:
                wanted[one.asset_id].setdefault(one.column.casefold(), one)
        feeds: dict[int, list[int]] = defaultdict(list)
        for pk in wanted:
            for child in self.graph.neighbours(pk, "down"):
                feeds[child].append(pk)
        known = self.lineages.of(sorted(feeds))
        kinds = _kinds([pk for pk in feeds if not known[pk].readable])
        found: list[Step] = []
        for child in sorted(feeds):
            if known[child].readable:
                found += self._made_of(child, known[child], wanted, feeds[child], hop)
            else:
                self._fall_back(child, hop, known[child].reason if kinds.get(child) in CODED else READER)
        return found

    def _made_of(
        self, child: int, lineage: Lineage, wanted: dict[int, dict[str, Step]], fed_by: Sequence[int], hop: int
    ) -> list[Step]:
        """The columns of `child` that are made of a wanted one."""
        if not tables_of(lineage.columns).issuperset(fed_by):
            self._fall_back(child, hop, NOT_NAMED)
        found: list[Step] = []
        for name, entry in lineage.columns.items():
            for table, column in sources_of(entry):
                steps = wanted.get(table, {}) if isinstance(table, int) else {}
                for one in _fitting(steps, name, column, entry):
                    found += self._into(child, name, column, one, entry, hop)
        return found

    def _into(self, child: int, name: str, column: str | None, one: Step, entry: Entry, hop: int) -> list[Step]:
        if name == ROWS:
            self._row(child, one.asset_id or 0, one.column, hop, min(one.confidence, entry["confidence"]))
        elif name == REST and _passes(entry):
            return self._add(child, one.column, one, entry, hop)
        elif column is None or name == REST:
            self._fall_back(child, hop, SOME)
        else:
            return self._add(child, name, one, entry, hop)
        return []

    def _add(self, table: int | str, column: str, one: Step, entry: Entry, hop: int) -> list[Step]:
        """The step to this column, unless it was reached before."""
        key = (table, column.casefold())
        if key in self._seen or one.asset_id is None:
            return []
        self._seen.add(key)
        asset_id, text = (table, "") if isinstance(table, int) else (None, table)
        confidence = min(one.confidence, entry["confidence"])
        return [Step(asset_id, column, hop, entry["kind"], confidence, (one.asset_id, one.column), text)]

    def _row(self, asset_id: int, table: int | str, column: str, hop: int, confidence: int) -> None:
        asset, text = (table, "") if isinstance(table, int) else (None, table)
        self.rows.setdefault((asset_id, table, column), RowStep(asset_id, asset, text, column, hop, confidence))

    def _fall_back(self, asset_id: int, hop: int, why: str) -> None:
        self.fallback.setdefault(asset_id, Fallback(asset_id, hop, why))


def beyond(graph: Adjacency, direction: Direction, first: dict[int, Fallback], most: int | None) -> Iterator[Fallback]:
    """`first`, and everything in that direction from there, which may be reached too; nearest first, each once."""
    side = graph.down if direction == "down" else graph.up
    seen = np.zeros(graph.ids.size, dtype=bool)
    by_hop: dict[int, list[Fallback]] = defaultdict(list)
    for one in first.values():
        by_hop[one.hops].append(one)
    hop, frontier = min(by_hop, default=0), np.empty(0, dtype=np.int32)
    while frontier.size or any(later >= hop for later in by_hop):
        yield from (Fallback(pk, hop, BEYOND) for pk in graph.ids[frontier].tolist() if pk not in first)
        here = sorted(by_hop.pop(hop, ()))
        yield from here
        own = graph.nodes(np.array([one.asset_id for one in here], dtype=np.int64))
        starts = np.unique(np.concatenate([frontier, own[own >= 0]])).astype(np.int32)
        seen[starts] = True
        if most is not None and hop >= most:
            return
        below = np.unique(side.of_all(starts)[0]) if starts.size else starts
        frontier, hop = below[~seen[below]].astype(np.int32), hop + 1
        seen[frontier] = True


def _fitting(steps: dict[str, Step], name: str, column: str | None, entry: Entry) -> list[Step]:
    """Which of the wanted columns of a table a pair of the entry means."""
    if column is not None:
        return [steps[column.casefold()]] if column.casefold() in steps else []
    if name == REST:
        left_out = {one.casefold() for one in entry.get("without", ())}
        return [one for key, one in steps.items() if key not in left_out]
    return list(steps.values())[:1]


def _passes(entry: Entry) -> bool:
    """Whether the rest is one table's columns under their own names."""
    return bool(entry["kind"] == "identity" and len(entry["sources"]) == 1)


def _kinds(asset_ids: Iterable[int]) -> dict[int, str]:
    wanted = sorted(asset_ids)
    return dict(Asset.objects.filter(pk__in=among(wanted)).values_list("pk", "kind")) if wanted else {}
