"""What the columns of one asset are made of, by the names that the eyes allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from catalog.columns.selectors import TracedTable, traced
from catalog.models import Asset
from catalog.selectors import assets_by_id
from spellbook.sight import Sight

WHY = {
    "waiting": "not read yet",
    "unknown": "not known yet",
    "known": "its code does not name it",
    "partly": "not known yet",
}
HIDDEN = "a column of a restricted domain"


@dataclass(frozen=True)
class Source:
    """One column that another is made of; `asset` is None where the name of its table is all that is known, `column`
    None where only the table is."""

    asset: Asset | None
    table: str
    column: str | None


@dataclass(frozen=True)
class Made:
    """What one column is made of: `kind` identity, transformed, aggregated or constant; `confidence` in percent."""

    kind: str
    confidence: int
    sources: tuple[Source, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        sources = [
            {"asset_id": one.asset.pk if one.asset else None, "table": one.table, "column": one.column}
            for one in self.sources
        ]
        return {"kind": self.kind, "confidence": self.confidence, "from": sources}


@dataclass(frozen=True)
class MadeOf:
    """The lineage of all columns of an asset: its state, and what to say of a column that has none."""

    table: TracedTable
    assets: Mapping[int, Asset]
    sight: Sight

    @property
    def reason(self) -> str:
        """Why a column has no lineage, in words."""
        return self.table.reason or WHY.get(self.table.state, "not known yet")

    def of(self, column: str) -> Made | None:
        """What a column is made of; None where it is not known."""
        entry = self.table.sources(column)
        if entry is None:
            return None
        sources = tuple(self._source(*pair) for pair in entry["sources"])
        return Made(entry["kind"], entry["confidence"], sources)

    def _source(self, of: int | str, column: str | None) -> Source:
        if isinstance(of, str):
            return Source(None, of, column)
        asset = self.assets.get(of)
        if asset is None:
            return Source(None, "a table that is gone", column)
        hidden = not self.sight.sees(asset)
        return Source(asset, self.sight.name(asset), HIDDEN if hidden and column else column)


def made_of(asset: Asset, sight: Sight) -> MadeOf:
    """The column lineage of `asset`, one step up; three queries, a few more where its code waits to be read."""
    table = traced(asset)
    entries = [*table.columns.values(), *([table.rest] if table.rest else [])]
    ids = {pair[0] for entry in entries for pair in entry["sources"] if isinstance(pair[0], int)}
    return MadeOf(table, assets_by_id(sorted(ids)), sight)
