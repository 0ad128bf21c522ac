"""What a column is made of and what is made of it, across tables, and where only the tables are known."""

from __future__ import annotations

import difflib
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catalog.columns.entries import REST, ROWS, Entry, find, ordered
from catalog.columns.rows import Lineages
from catalog.columns.walk import Fallback, RowStep, Step, Walker
from catalog.graph.adjacency import Direction
from catalog.models import Asset, ColumnList
from catalog.names import full_name, short
from catalog.selectors import version_for
from foundation.bulk import among
from foundation.errors import BadInput, NotFound

MOST_LISTED = 2000


@dataclass(frozen=True)
class TracedTable:
    """The column lineage of one asset: `state` is known, partly, unknown or waiting (not read yet), `reason` why.

    `older` marks lineage of code that has changed since. `columns` holds {sources: [[asset id or a table's text, column
    or None], ...], kind, confidence} by column, `rest` the same for columns that could not be listed, `rows` what
    decides which rows there are.
    """

    state: str
    reason: str
    older: bool
    columns: dict[str, Entry]
    rest: Entry | None
    rows: Entry | None

    def sources(self, column: str) -> Entry | None:
        """The entry of `column`, whatever its case; None where nothing is known."""
        listed = self.columns | ({REST: self.rest} if self.rest else {})
        return find(listed, column)[1]


@dataclass(frozen=True)
class ColumnWalk:
    """The columns reached from one column, nearest first, each once; cycles are fine.

    `rows` are the tables whose rows the column or one reached decides (filters, joins, groups): its values do not go
    on from there, but every column of such a table may be other than it was. `fallback` are the assets that are
    reached by their tables alone, up to the end; what lies there is not known, which is never "nothing". `total` counts
    the columns reached, `rows_total` and `fallback_total` the rest; `truncated` says that a list is not complete.
    """

    asset: Asset
    column: str
    direction: Direction
    graph_version: int
    nodes: tuple[Step, ...]
    rows: tuple[RowStep, ...]
    fallback: tuple[Fallback, ...]
    total: int
    rows_total: int
    fallback_total: int
    truncated: bool
    reason: str
    names: dict[int, str]

    def as_dict(self, visible: Container[int] | None = None) -> dict[str, Any]:
        """Plain JSON. Names of assets (and their columns) outside of `visible` are null; nothing else is hidden."""

        sight = _Sight(self.names, visible)
        return {
            "asset": full_name(self.asset),
            "asset_id": self.asset.pk,
            "column": self.column,
            "direction": self.direction,
            "graph_version": self.graph_version,
            "total": self.total,
            "truncated": self.truncated,
            "nodes": [sight.step(one) for one in self.nodes],
            "rows_total": self.rows_total,
            "rows": [sight.rows(one) for one in self.rows],
            "fallback_total": self.fallback_total,
            "fallback": [sight.fallback(one) for one in self.fallback],
            "reason": self.reason,
        }


@dataclass(frozen=True)
class _Sight:
    """The steps as JSON, with what the reader may not see left out."""

    names: Mapping[int, str]
    visible: Container[int] | None

    def step(self, one: Step) -> dict[str, Any]:
        column = self._shown(one.asset_id, one.column)
        made = {"hops": one.hops, "kind": one.kind, "confidence": one.confidence}
        via = [one.via[0], self._shown(*one.via)] if one.via else None
        return {
            "asset_id": one.asset_id,
            "name": self._name(one.asset_id, one.table),
            "column": column,
            **made,
            "via": via,
        }

    def rows(self, one: RowStep) -> dict[str, Any]:
        by = {
            "asset_id": one.by_asset,
            "name": self._name(one.by_asset, one.by_table),
            "column": self._shown(one.by_asset, one.by) or None,
        }
        name = self._name(one.asset_id)
        return {"asset_id": one.asset_id, "name": name, "hops": one.hops, "confidence": one.confidence, "by": by}

    def fallback(self, one: Fallback) -> dict[str, Any]:
        return {"asset_id": one.asset_id, "name": self._name(one.asset_id), "hops": one.hops, "reason": one.reason}

    def _name(self, pk: int | None, text: str = "") -> str | None:
        return text if pk is None else self._shown(pk, self.names.get(pk))

    def _shown(self, pk: int | None, text: str | None) -> str | None:
        return text if pk is None or self.visible is None or pk in self.visible else None


def column_lineage(
    asset: Asset, column: str, direction: Direction, hops: int | None = None, limit: int = MOST_LISTED
) -> ColumnWalk:
    """What `column` of `asset` is made of ("up") or goes into ("down"), within `hops` tables (default: all).

    Code that waits to be read is read now where it is little; otherwise its asset is a fallback, *not read yet*. A
    confidence is that of the weakest step on the way. Raises NotFound, with near names, for a column that the asset
    does not have, and BadInput for a hop limit below 1.
    """
    if hops is not None and hops < 1:
        raise BadInput("The number of hops is at least 1.")
    lineages = Lineages()
    own = lineages.of([asset.pk])[asset.pk]
    name, listed = _spelled(asset, column, own.columns)
    version = version_for(asset)
    walker = Walker(lineages, version, direction, hops)
    walker.walk(asset.pk, name)
    nodes, rows = walker.nodes[:limit], list(walker.rows.values())[:limit]
    fallback = list(walker.fallback.values())[:limit]
    ids = {one.asset_id for one in nodes} | {one.asset_id for one in fallback}
    ids |= {pk for one in rows for pk in (one.asset_id, one.by_asset)}
    ids |= {one.via[0] for one in nodes if one.via}
    return ColumnWalk(
        asset=asset,
        column=name,
        direction=direction,
        graph_version=version,
        nodes=tuple(nodes),
        rows=tuple(rows),
        fallback=tuple(fallback),
        total=len(walker.nodes),
        rows_total=len(walker.rows),
        fallback_total=len(walker.fallback),
        truncated=walker.stopped or max(map(len, (walker.nodes, walker.rows, walker.fallback))) > limit,
        reason="" if listed else "the columns of the asset are not known; the name is taken as given",
        names=_names(pk for pk in ids if pk is not None),
    )


def traced(asset: Asset) -> TracedTable:
    """The column lineage of `asset` as it is known now; two queries, a few more where its code waits to be read."""
    found = Lineages().of([asset.pk])[asset.pk]
    columns = {name: found.columns[name] for name in ordered(found.columns)}
    return TracedTable(
        found.state, found.reason, found.older, columns, found.columns.get(REST), found.columns.get(ROWS)
    )


def _spelled(asset: Asset, column: str, entries: dict[str, Entry]) -> tuple[str, bool]:
    """The column as the catalogue or the asset's code spells it, and whether either has a list at all."""
    wanted = column.strip()
    if not wanted:
        raise BadInput("The name of a column is empty.")
    items = ColumnList.objects.filter(asset=asset).values_list("items", flat=True).first() or []
    known = [*(item["name"] for item in items), *(name for name in entries if name not in (REST, ROWS))]
    folded = {name.casefold(): name for name in reversed(known)}
    if wanted in known:
        return wanted, True
    if wanted.casefold() in folded:
        return folded[wanted.casefold()], True
    if known and REST not in entries:
        raise NotFound(f"{full_name(asset)} has no column {short(wanted)}{_near(wanted, known)}.")
    return wanted, False


def _near(wanted: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(wanted.casefold(), dict.fromkeys(name.casefold() for name in known), n=3)
    names = [name for name in dict.fromkeys(known) if name.casefold() in close]
    return f"; near it are {', '.join(names)}" if names else ""


def _names(ids: Iterable[int]) -> dict[int, str]:
    return dict(Asset.objects.filter(pk__in=among(sorted(ids))).values_list("pk", "name"))
