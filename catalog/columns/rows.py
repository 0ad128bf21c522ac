"""The kept column lineage of assets, of all their sources together, read as a walk asks for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from catalog.columns.entries import OLDER, REST, Entry
from catalog.columns.reading import read_rows
from catalog.models import ColumnLineage, NodeClaim
from foundation.bulk import among

READ_NOW = 20
"""So many waiting rows are read while somebody waits for the answer, in all; more are the sweep's."""
READ_NOW_CHARACTERS = 50_000
NOT_READ = "its code was not read yet"
NO_CODE = "no compiled code of it was imported"
OLD_CONFIDENCE = 50
_ORDER = {"known": 3, "partly": 2, "waiting": 1, "unknown": 0}


@dataclass
class Lineage:
    """What is known of one asset: the best state of its sources, and their entries together."""

    state: str = "unknown"
    reason: str = NO_CODE
    older: bool = False
    columns: dict[str, Entry] = field(default_factory=dict)

    @property
    def readable(self) -> bool:
        return self.state in ("known", "partly")


class Lineages:
    """Lineage by asset, each read once; assets of which nothing is kept have the default one."""

    def __init__(self) -> None:
        self._known: dict[int, Lineage] = {}
        self._left = READ_NOW

    def of(self, asset_ids: Sequence[int]) -> dict[int, Lineage]:
        """The lineage of each of these assets."""
        new = [pk for pk in asset_ids if pk not in self._known]
        rows = _rows(new)
        self._read_now(rows)
        by_asset: dict[int, list[ColumnLineage]] = defaultdict(list)
        for row in rows:
            by_asset[row.asset_id].append(row)
        self._known |= {pk: _together(by_asset[pk]) if pk in by_asset else Lineage() for pk in new}
        return {pk: self._known[pk] for pk in asset_ids}

    def _read_now(self, rows: Iterable[ColumnLineage]) -> None:
        """Read the code that waits, if it is little; nothing is written, the sweep does that."""
        waiting = [row for row in rows if row.state == "waiting"]
        small = [row for row in waiting if len(row.sql) <= READ_NOW_CHARACTERS][: self._left]
        self._left -= len(small)
        for row, one in zip(small, read_rows(small) if small else (), strict=True):
            mark = OLDER if row.reason.startswith(OLDER) else ""
            row.state, row.columns, row.reason = one.state, one.columns, mark or one.reason


def _rows(asset_ids: Sequence[int]) -> list[ColumnLineage]:
    """The rows of these assets, but those of sources that said once that the asset exists and say so no more."""
    if not asset_ids:
        return []
    rows = list(ColumnLineage.objects.filter(asset__in=among(list(asset_ids))).order_by("pk"))
    claims = NodeClaim.objects.filter(asset__in=among(sorted({row.asset_id for row in rows})))
    standing: dict[tuple[int, str], bool] = {}
    for asset_id, key, ended in claims.values_list("asset_id", "source__key", "removed_in_id"):
        standing[asset_id, key] = standing.get((asset_id, key), False) or ended is None
    return [row for row in rows if standing.get((row.asset_id, row.source), True)]


def _together(rows: Sequence[ColumnLineage]) -> Lineage:
    """What several sources say, as one: a column's sources are those that any of them names (D6)."""
    best = max(rows, key=lambda row: _ORDER[row.state])
    older = all(row.reason.startswith(OLDER) for row in rows if row.state == best.state)
    merged: dict[str, Entry] = {}
    for row in rows:
        for name, entry in row.columns.items():
            aged = _aged(entry) if row.reason.startswith(OLDER) else entry
            merged[name] = _merged(merged[name], aged) if name in merged else aged
    if any(row.state == "known" for row in rows):
        merged.pop(REST, None)
    reason = NOT_READ if best.state == "waiting" else best.reason
    return Lineage(best.state, reason, older, merged)


def _aged(entry: Entry) -> Entry:
    return {**entry, "confidence": min(entry["confidence"], OLD_CONFIDENCE)}


def _merged(one: Entry, other: Entry) -> Entry:
    """Both; how a column is made is told by the source that is surer of it."""
    surer = max(one, other, key=lambda entry: entry["confidence"])
    pairs = {(pair[0], pair[1]): pair for pair in [*one["sources"], *other["sources"]]}
    # A source that knows the columns of a table answers one that knows only the table.
    told = {table for table, column in pairs if column is not None}
    kept = [pair for (table, column), pair in pairs.items() if column is not None or table not in told]
    lists: Entry = {
        name: one.get(name) or other.get(name) for name in ("tables", "names") if name in one or name in other
    }
    return {**surer, **lists, "sources": kept}
