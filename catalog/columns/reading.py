"""Reading the code of assets against what the catalogue knows of the tables in it. No writes."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from catalog.column_lineage import KNOWN, PARTLY, UNKNOWN, Schema, Table, Traced, trace
from catalog.column_lineage.from_items import STAND_IN
from catalog.column_lineage.tables import complete
from catalog.columns.entries import OLDER, Entry, entries, listed
from catalog.models import Asset, ColumnLineage, ColumnList, EdgeClaim, NodeClaim
from foundation.bulk import among
from foundation.deadline import deadline

log = logging.getLogger(__name__)

SECONDS = 20
BY_CODE = "as its code says"
"""Stands for the type of a column of which only its code tells."""
REASON = 400
"""Letters of a reason that are kept; a mark may come before them."""


class Reading(NamedTuple):
    """What the code of one asset says."""

    state: str
    columns: dict[str, Entry]
    reason: str


@dataclass
class _Table:
    """An asset as SQL may name it."""

    pk: int
    namespace: str
    name: str
    columns: dict[str, str] = field(default_factory=dict)
    spelled: tuple[str, ...] = ()

    @property
    def parts(self) -> Table:
        return tuple(self.name.split("."))


@dataclass
class _Known:
    """The tables that the code of some rows may name: what feeds each asset, and what else has a name found in it."""

    tables: dict[int, _Table]
    feeding: Mapping[int, set[int]]
    stand_ins: Mapping[int, tuple[str, ...]]
    elsewhere: dict[tuple[str, str], int] = field(default_factory=dict)


def read_rows(rows: Sequence[ColumnLineage]) -> list[Reading]:
    """What the code of each row says, in their order; a handful of queries for all of them. Never raises for the code.

    In a process's main thread the code of one asset has 20 s; the limits of `trace` hold everywhere.
    """
    known = _known([row.asset_id for row in rows])
    first = [_traced(row, known, None) for row in rows]
    _look_up(known, {(known.tables[row.asset_id].namespace, name) for row, one in zip(rows, first, strict=True)
                     for name in _unknown(row, one, known)})  # fmt: skip
    return [_again(row, one, known) for row, one in zip(rows, first, strict=True)]


def _again(row: ColumnLineage, first: Traced, known: _Known) -> Reading:
    """The reading; once more where a table that feeds the asset unannounced turned out to have known columns."""
    extra = {known.elsewhere[key] for key in _keys(row, first, known) if key in known.elsewhere}
    traced = _traced(row, known, extra) if any(known.tables[pk].columns for pk in extra) else first
    tables = _tables(row, known, extra)
    own = known.tables[row.asset_id]

    def table_of(table: Table) -> int | str:
        found = tables.get(table)
        return known.elsewhere.get((own.namespace, ".".join(table)), ".".join(table)) if found is None else found

    found, left_out = entries(traced, table_of, own.spelled)
    state = PARTLY if left_out and traced.state == KNOWN else traced.state
    return Reading(state, found, "; ".join(one for one in (left_out, traced.reason) if one)[:REASON])


def _traced(row: ColumnLineage, known: _Known, extra: set[int] | None) -> Traced:
    tables = _tables(row, known, extra or set())
    schema: Schema = {
        parts: {} if len(parts) == 1 and parts[0].startswith(STAND_IN) else known.tables[pk].columns
        for parts, pk in tables.items()
    }
    try:
        with deadline(SECONDS):
            return trace(row.sql, dialect=row.dialect, schema=schema)
    except TimeoutError:
        return Traced(UNKNOWN, reason=f"reading the code took longer than {SECONDS} s")
    except Exception:
        log.exception("The code of asset %s could not be traced", row.asset_id)
        return Traced(UNKNOWN, reason="a fault of ours; the log of the installation has the details")


def _tables(row: ColumnLineage, known: _Known, extra: set[int]) -> dict[Table, int]:
    """What the code of `row` may name: what feeds the asset, the asset itself, and `extra`."""
    own = known.tables[row.asset_id]
    pks = [*extra, *known.feeding.get(row.asset_id, ()), row.asset_id]
    found: dict[Table, int] = {(f"{STAND_IN}{name}",): pk for pk in pks for name in known.stand_ins.get(pk, ())}
    # Of two tables of one name that of the asset's own namespace is meant.
    for pk in sorted(pks, key=lambda one: known.tables[one].namespace == own.namespace):
        found[known.tables[pk].parts] = pk
    return found


def _unknown(row: ColumnLineage, traced: Traced, known: _Known) -> set[str]:
    named = _tables(row, known, set())
    return {".".join(table) for table in traced.tables if table not in named}


def _keys(row: ColumnLineage, traced: Traced, known: _Known) -> set[tuple[str, str]]:
    namespace = known.tables[row.asset_id].namespace
    return {(namespace, name) for name in _unknown(row, traced, known)}


def _known(asset_ids: Sequence[int]) -> _Known:
    edges = EdgeClaim.objects.filter(to_asset__in=among(asset_ids), removed_in__isnull=True)
    feeding: dict[int, set[int]] = defaultdict(set)
    for above, below in edges.values_list("from_asset_id", "to_asset_id"):
        feeding[below].add(above)
    pks = sorted({*asset_ids, *(pk for above in feeding.values() for pk in above)})
    return _Known(_loaded(pks), feeding, _stand_ins(pks))


def _loaded(pks: Sequence[int]) -> dict[int, _Table]:
    rows = Asset.objects.filter(pk__in=among(pks)).values_list("pk", "namespace", "name")
    found = {pk: _Table(pk, namespace, name) for pk, namespace, name in rows}
    for pk, items in ColumnList.objects.filter(asset__in=among(pks)).values_list("asset_id", "items"):
        found[pk].columns = {item["name"]: item["type"] for item in items}
        found[pk].spelled = tuple(found[pk].columns)
    _complete(found)
    return found


def _complete(tables: Mapping[int, _Table]) -> None:
    """Where the catalogue does not have all columns of a table, its own code may: what it gives out is all there is."""
    open_ = [pk for pk, table in tables.items() if not complete(table.columns)]
    rows = ColumnLineage.objects.filter(asset__in=among(open_), state__in=(KNOWN, PARTLY)).exclude(sql="")
    for row in rows.order_by("pk").only("asset_id", "columns", "reason") if open_ else ():
        names = listed(row.columns)
        if names and not row.reason.startswith(OLDER):
            tables[row.asset_id].columns = dict.fromkeys(names, BY_CODE)


def _stand_ins(pks: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """The names under which dbt pastes an ephemeral model into the code that reads it."""
    claims = NodeClaim.objects.filter(asset__in=among(pks), removed_in__isnull=True)
    ephemeral = claims.filter(attributes__materialized="ephemeral").values_list("asset_id", "attributes")
    return {pk: tuple(_names(attributes)) for pk, attributes in ephemeral}


def _names(attributes: Mapping[str, Any]) -> Iterable[str]:
    name, version = attributes.get("name"), attributes.get("version")
    if name:
        yield str(name)
        if version is not None:
            yield f"{name}_v{version}"


def _look_up(known: _Known, names: set[tuple[str, str]]) -> None:
    """Find the tables that the code names and no edge announces, by their exact names."""
    if not names:
        return
    wanted = sorted({name for _, name in names})
    rows = Asset.objects.filter(name__in=among(wanted), namespace__in=among(sorted({space for space, _ in names})))
    found = {(namespace, name): pk for namespace, name, pk in rows.values_list("namespace", "name", "pk")}
    known.elsewhere = {key: pk for key, pk in found.items() if key in names}
    known.tables |= {pk: one for pk, one in _loaded(sorted(known.elsewhere.values())).items() if pk not in known.tables}
