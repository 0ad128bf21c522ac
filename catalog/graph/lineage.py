"""Lineage in one direction as pages and exports show it: filtered, counted, in the order in which readers are harmed.

The walk, the counts and the order run on arrays; only the rows of one page are read from the database, in as many
queries for a million assets as for ten.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from catalog.graph.adjacency import adjacency
from catalog.graph.damage_time import Reading, Readings, declared
from catalog.graph.lineage_assets import Known, known
from catalog.graph.lineage_rows import LineageRow, Rows
from catalog.graph.neighbours import Nodes
from catalog.graph.versions import head, intervals, newest_of
from catalog.graph.walks import Direction
from catalog.models import Asset
from catalog.names import full_name
from foundation.canonical import timestamp
from foundation.errors import BadInput, NotFound

MOST_ROWS = 1000
CHUNK = 500
HOPS_COUNTED = 10


@dataclass(frozen=True)
class LineagePage:
    """One page of the assets that feed `asset` ("up") or that it feeds ("down").

    `total` counts all of them, `found` those that hop limit and kinds leave, `truncated` says that `rows` are not all
    of `total`. `kinds` counts each kind within the hop limit, `hops` the assets at distance 1, 2, ... (the first ten).
    `readers` are those within the hop limit, `next_read` the first read of one. `cycle`: `asset` feeds itself.
    """

    asset: str
    asset_id: int
    graph_version: int
    as_it_was: bool
    direction: Direction
    total: int
    found: int
    truncated: bool
    cycle: bool
    kinds: dict[str, int]
    hops: tuple[int, ...]
    readers: int
    next_read: datetime | None
    offset: int
    limit: int
    rows: tuple[LineageRow, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        plain = {**vars(self), "rows": [row.as_dict() for row in self.rows], "hops": list(self.hops)}
        return plain | {"next_read": timestamp(self.next_read) if self.next_read else None}


class Lineage:
    """Everything that one walk found, as it is asked for: `page`, all `rows`, and the small graph for a drawing.

    Restricted domains in `hidden` (their ids) keep the names of their assets, and what people wrote of them; counts,
    kinds, owners and times are shown (D1). BadInput for a limit or direction that cannot be used; NotFound for a graph
    version that there is not or that does not know the asset, and for an asset that no source ever claimed (unknown is
    never "no impact").
    """

    def __init__(
        self,
        asset: Asset,
        *,
        direction: Direction,
        at: datetime,
        hops: int | None = None,
        kinds: Collection[str] = (),
        version: int | None = None,
        hidden: Collection[int] = (),
    ) -> None:
        if direction not in get_args(Direction):
            raise BadInput("The direction is up or down.")
        if hops is not None and hops < 1:
            raise BadInput("The number of hops is at least 1.")
        number, at_made = _version(asset, version)
        self.asset, self.direction, self.at, self.hidden = asset, direction, at, frozenset(hidden)
        self.as_it_was = number > 0 and at_made is None
        self.graph = adjacency(number, at=at_made)
        self.walk = self.graph.walk(asset.pk, direction, hops)
        self.kinds_wanted = frozenset(kinds)
        self._loaded: dict[int, Known] = {}

    @cached_property
    def kinds(self) -> dict[str, int]:
        """How many assets of each kind are within the hop limit, most first."""
        codes = self.graph.kinds[self.walk.found[1:]]
        counts = zip(self.graph.kind_names, np.bincount(codes, minlength=len(self.graph.kind_names)), strict=True)
        return dict(sorted(((name, int(n)) for name, n in counts if n), key=lambda one: (-one[1], one[0])))

    @cached_property
    def readings(self) -> dict[int, Reading]:
        """The readers within the hop limit by node; down, by time to damage."""
        nodes, found = self._reached
        places = found.by_damage(self.walk.distance[nodes]) if self.direction == "down" else np.arange(nodes.size)
        return {node: found[place] for node, place in zip(nodes[places].tolist(), places.tolist(), strict=True)}

    @property
    def next_read(self) -> datetime | None:
        """The first moment at which a reader within the hop limit reads, of those whose times are known."""
        return self._reached[1].next_read

    @cached_property
    def _reached(self) -> tuple[Nodes, Readings]:
        said = declared(self.walk.ids.tolist() if len(self.walk) <= CHUNK else None) if len(self.walk) else []
        nodes = self.graph.nodes(np.array([one.asset_id for one in said], dtype=np.int64))
        reached = np.flatnonzero((nodes >= 0) & (self.walk.distance[nodes] > 0)) if said else nodes
        nodes, said = nodes[reached], [said[place] for place in reached.tolist()]
        kinds = [self.graph.kind_names[code] for code in self.graph.kinds[nodes].tolist()]
        return nodes, Readings(said, kinds, self.at)

    @cached_property
    def order(self) -> Nodes:
        """The nodes that the filters leave, as they are listed: down, readers first; then nearest first, then by id."""
        nodes = self.walk.nodes
        if self.kinds_wanted:
            nodes = nodes[self._wanted[self.graph.kinds[nodes]]]
        if self.direction == "up" or not self.readings:
            return nodes
        reading = np.fromiter(self.readings, dtype=np.int32)
        if self.kinds_wanted:
            reading = reading[self._wanted[self.graph.kinds[reading]]]
        return np.concatenate([reading, nodes[~self._is_reader[nodes]]])

    def page(self, offset: int = 0, limit: int = 100) -> LineagePage:
        """The rows from `offset` on, at most `limit` (1 to 1,000)."""
        if offset < 0 or not 1 <= limit <= MOST_ROWS:
            raise BadInput(f"A page begins at 0 or later and has 1 to {MOST_ROWS} rows.")
        rows = self._rows(self.order[offset : offset + limit])
        hops = np.diff(self.walk.begins)[1 : HOPS_COUNTED + 1].tolist()
        return LineagePage(
            asset=full_name(self.asset),
            asset_id=self.asset.pk,
            graph_version=self.graph.version,
            as_it_was=self.as_it_was,
            direction=self.direction,
            total=self.walk.total,
            found=int(self.order.size),
            truncated=len(rows) < self.walk.total,
            cycle=self.walk.cycle,
            kinds=self.kinds,
            hops=tuple(hops),
            readers=len(self.readings),
            next_read=self.next_read,
            offset=offset,
            limit=limit,
            rows=tuple(rows),
        )

    def rows(self) -> Iterator[LineageRow]:
        """All rows that the filters leave, in the order of the pages, read in chunks."""
        for start in range(0, int(self.order.size), CHUNK):
            yield from self._rows(self.order[start : start + CHUNK])

    def assets(self, ids: Collection[int]) -> dict[int, Known]:
        """The assets with these ids; those that were asked for last are not asked for again."""
        if not self._loaded.keys() >= set(ids):
            self._loaded = known(ids)
        return self._loaded

    def edges(self) -> list[tuple[int, int]]:
        """The edges among the asset and all that is within the hop limit, as pairs of asset ids (from, to)."""
        return self.graph.edges(np.concatenate([self.walk.found[:1], self.walk.nodes]))

    def _rows(self, nodes: Nodes) -> Sequence[LineageRow]:
        ids, vias = self.graph.ids[nodes].tolist(), self.walk.via_of(nodes).tolist()
        return Rows(self.walk, self.readings, self._is_reader, self.hidden).of(nodes, self.assets({*ids, *vias}))

    @cached_property
    def _wanted(self) -> NDArray[np.bool_]:
        return np.array([name in self.kinds_wanted for name in self.graph.kind_names])

    @cached_property
    def _is_reader(self) -> NDArray[np.bool_]:
        found = np.zeros(self.graph.ids.size, dtype=bool)
        found[np.fromiter(self.readings, dtype=np.int32)] = True
        return found


def page(
    asset: Asset,
    *,
    direction: Direction,
    at: datetime,
    hops: int | None = None,
    kinds: Collection[str] = (),
    offset: int = 0,
    limit: int = 100,
    version: int | None = None,
    hidden: Collection[int] = (),
) -> LineagePage:
    """One page of `Lineage`, whose arguments and errors these are; at most 7 queries at any size of the graph."""
    found = Lineage(asset, direction=direction, at=at, hops=hops, kinds=kinds, version=version, hidden=hidden)
    return found.page(offset, limit)


def rows(asset: Asset, *, direction: Direction, at: datetime, **limits: Any) -> Iterator[LineageRow]:
    """All rows of `Lineage`, whose arguments these are; as many as `page` says that were found."""
    return Lineage(asset, direction=direction, at=at, **limits).rows()


def _version(asset: Asset, wanted: int | None) -> tuple[int, datetime | None]:
    """The version to answer for, and when it was made if it is the newest."""
    newest, made = head()
    claimed = intervals(asset)
    if wanted is None:
        wanted = newest_of(asset, claimed, newest)
    elif not 1 <= wanted <= newest:
        raise NotFound(f"There is no graph version {wanted}; the newest is {newest}.")
    elif not any(start <= wanted and (end is None or end > wanted) for start, end in claimed):
        raise NotFound(f"{asset.name} is not in graph version {wanted}.")
    return wanted, made if wanted == newest else None
