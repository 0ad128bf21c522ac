"""Column lineage: code is staged with an import and read later, by a sweep (D8: what has no code takes nothing away).

These rows are derived from what an import or an event brought, whose own audit row tells of it; nobody is asked here.
"""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

from django.db import connection
from django.db.models import Q

from catalog.column_lineage.reading import MAX_CHARACTERS
from catalog.column_lineage.tables import complete
from catalog.columns.entries import OLDER, listed
from catalog.columns.reading import read_rows
from catalog.models import ColumnLineage, ColumnList, EdgeClaim
from foundation import bulk, canonical, clock, due
from foundation.bulk import among
from foundation.locks import transaction

CHUNK = 2500
FEW = 200
READ_AT_ONCE = 10
LEASE = timedelta(minutes=10)
SECONDS = 1.0
BURST, PAUSE = 100, timedelta(seconds=2)
"""Of many rows so many become due at a time: a large import must not look like work that nobody does."""
AGAIN = timedelta(days=1)
"""Code that could not be read whole is read again, since the catalogue may know more by then."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """The code of one asset as source `source` (a `Source.key`) has it; `sql` is "" where it has none compiled.

    `checksum` is that of the code before compiling ("" if the source has none), `dialect` sqlglot's name.
    """

    asset_id: int
    source: str
    checksum: str
    sql: str
    dialect: str


_Staged: TypeAlias = tuple[int, Compiled, str, str]
"""The asset's or the row's key, what was given, its text as stored, the digest of that."""
_Marked: TypeAlias = tuple[str, str, int]
"""Checksum, reason and key of a row."""
_SAID = ("state", "checksum", "sql_sha256", "sql", "dialect", "columns", "reason", "due_at")


class _Kept(NamedTuple):
    pk: int
    checksum: str
    sql_sha256: str
    dialect: str
    reason: str


def stage(rows: Sequence[Compiled]) -> None:
    """Note the code of assets and make what changed due; the reading is the sweep's.

    A row without SQL leaves what its code gave before alone; where its checksum is another, that is marked as being of
    older code. Code longer than what is traced is not kept, and said to be unknown. Unchanged rows write nothing.
    """
    by_source: dict[str, dict[int, Compiled]] = defaultdict(dict)
    for row in rows:
        before = by_source[row.source].get(row.asset_id)
        if before is None or row.sql or not before.sql:
            by_source[row.source][row.asset_id] = row
    for source, compiled in by_source.items():
        _stage(source, compiled)


def compute_due(limit: int, *, seconds: float = SECONDS) -> int:
    """Read the code of up to `limit` due rows, for about `seconds`; returns how many were read.

    Must not be called inside a transaction. A row whose code was replaced meanwhile keeps the new code and stays due.
    """
    done, end = 0, time.monotonic() + seconds
    while done < limit and time.monotonic() < end:
        rows = due.claim(ColumnLineage.objects.all(), limit=min(READ_AT_ONCE, limit - done), lease=LEASE)
        if not rows:
            break
        _compute(rows)
        done += len(rows)
    return done


def columns_changed(asset_ids: Sequence[int]) -> None:
    """Make due what was read against the columns of these assets: their own code, and that of what they feed."""
    found: dict[int, None] = {}
    for start in range(0, len(asset_ids), CHUNK):
        chunk = list(asset_ids[start : start + CHUNK])
        below = EdgeClaim.objects.filter(from_asset__in=among(chunk), removed_in__isnull=True).values("to_asset_id")
        rows = ColumnLineage.objects.filter(Q(asset__in=among(chunk)) | Q(asset__in=below))
        rows = rows.exclude(state="waiting").exclude(sql="")  # what waits is read anyway
        found |= dict.fromkeys(rows.order_by("pk").values_list("pk", flat=True))
    _make_due(list(found))


def _make_due(pks: Sequence[int]) -> None:
    for start in range(0, len(pks), CHUNK):
        with transaction():
            moment = clock.now()
            for place in range(start, min(start + CHUNK, len(pks)), BURST):
                # Who reads it at this moment reads against what was known before, and must not be the last.
                later = Q(due_at__isnull=True) | Q(due_at__gt=moment) | Q(lease_token__isnull=False)
                rows = ColumnLineage.objects.filter(later, pk__in=pks[place : place + BURST])
                rows.update(due_at=_turn(place, moment), lease_until=None, lease_token=None)


def from_facet(asset_id: int, source: str, columns: Mapping[str, Mapping[str, Any]]) -> None:
    """Keep what a producer itself says of an asset's columns (`catalog.column_lineage.facet.read` gives `columns`).

    It replaces what the same source said before; {} takes it away. The same again writes nothing.
    """
    row = ColumnLineage.objects.filter(asset_id=asset_id, source=source)
    if not columns:
        with transaction():
            row.delete()
        return
    plain = {name: dict(entry) for name, entry in columns.items()}
    checksum = canonical.digest(plain)
    if row.filter(checksum=checksum).exists():
        return
    said = {"state": "known", "checksum": checksum, "columns": plain, "reason": "", "sql": "", "sql_sha256": ""}
    with transaction():
        defaults = {**said, "due_at": None, "computed_at": clock.now()}
        ColumnLineage.objects.update_or_create(asset_id=asset_id, source=source, defaults=defaults)


def _stage(source: str, compiled: Mapping[int, Compiled]) -> None:
    before = _kept(source, list(compiled))
    new: list[_Staged] = []
    changed: list[_Staged] = []
    marked: list[_Marked] = []
    for asset_id, one in compiled.items():
        kept = before.get(asset_id)
        if not one.sql:
            marked += _mark(kept, one) if kept else []
            continue
        sql = _storable(one.sql)
        sha256 = hashlib.sha256(sql.encode()).hexdigest()
        if kept is None:
            new.append((asset_id, one, sql, sha256))
        elif (kept.sql_sha256, kept.dialect) != (sha256, one.dialect):
            changed.append((kept.pk, one, sql, sha256))
        elif kept.checksum != _sum(one) or kept.reason.startswith(OLDER):
            marked.append((_sum(one), _unmarked(kept.reason), kept.pk))
    _insert(source, new)
    _replace(changed)
    _set(marked)


def _kept(source: str, asset_ids: list[int]) -> dict[int, _Kept]:
    rows = ColumnLineage.objects.filter(source=source)
    if len(asset_ids) <= FEW:  # else all of the source's are read: a whole import needs nearly all of them
        rows = rows.filter(asset__in=asset_ids)
    found = rows.values_list("asset_id", "pk", "checksum", "sql_sha256", "dialect", "reason")
    return {row[0]: _Kept(*row[1:]) for row in found}


def _mark(kept: _Kept, one: Compiled) -> list[_Marked]:
    """The mark of older code, set or taken away (the code went back); nothing where it says so already."""
    older = _sum(one) != kept.checksum
    if not one.checksum or older == kept.reason.startswith(OLDER):
        return []
    return [(kept.checksum, _with_mark(kept.reason) if older else _unmarked(kept.reason), kept.pk)]


def _with_mark(reason: str) -> str:
    return f"{OLDER}; {reason}"[:500] if reason else OLDER


def _unmarked(reason: str) -> str:
    return reason.removeprefix(OLDER).removeprefix("; ")


def _sum(one: Compiled) -> str:
    return _storable(one.checksum)[:128]


def _storable(sql: str) -> str:
    """The text as every database takes it: no NUL, no half of a surrogate pair."""
    if sql.isascii() and "\0" not in sql:
        return sql
    return sql.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _insert(source: str, rows: Sequence[_Staged]) -> None:
    for start in range(0, len(rows), CHUNK):
        with transaction():
            moment = clock.now()
            chunk = enumerate(rows[start : start + CHUNK], start)
            values = [(row[0], source, *_said(row, _turn(place, moment)), 0) for place, row in chunk]
            bulk.insert(ColumnLineage, ("asset_id", "source", *_SAID, "attempts"), values, ignore=True)


def _replace(rows: Sequence[_Staged]) -> None:
    """New code of known assets; a worker that reads the old code meanwhile loses its lease."""
    for start in range(0, len(rows), CHUNK):
        with transaction():
            moment, adapt = clock.now(), connection.ops.adapt_datetimefield_value
            chunk = enumerate(rows[start : start + CHUNK], start)
            values = [(*_said(row, adapt(_turn(place, moment))), row[0]) for place, row in chunk]
            names = ", ".join(f"{name} = %s" for name in _SAID)
            _many(f"{names}, lease_until = NULL, lease_token = NULL", values)


def _turn(place: int, moment: datetime) -> datetime:
    """When the row at this place is due."""
    return moment + place // BURST * PAUSE


def _said(row: _Staged, moment: Any) -> tuple[Any, ...]:
    """The values of `_SAID`."""
    _, one, sql, sha256 = row
    if len(sql) > MAX_CHARACTERS:
        reason = f"the code has more than {MAX_CHARACTERS:,} characters"
        return "unknown", _sum(one), sha256, "", one.dialect[:40], "{}", reason, None
    return "waiting", _sum(one), sha256, sql, one.dialect[:40], "{}", "", moment


def _set(rows: Sequence[_Marked]) -> None:
    for start in range(0, len(rows), CHUNK):
        with transaction():
            _many("checksum = %s, reason = %s", rows[start : start + CHUNK])


def _many(assignments: str, values: Sequence[tuple[Any, ...]]) -> None:
    """One UPDATE a row by its key, which stands last in `values`; thousands of the ORM's would hold the lock long."""
    table = connection.ops.quote_name(ColumnLineage._meta.db_table)
    with connection.cursor() as cursor:
        cursor.executemany(f"UPDATE {table} SET {assignments} WHERE id = %s", list(values))  # noqa: S608


def _compute(rows: Sequence[ColumnLineage]) -> None:
    found = read_rows(rows)
    with transaction():
        moment = clock.now()
        # The mark of older code may have come while the code was being read.
        reasons = dict(ColumnLineage.objects.filter(pk__in=[row.pk for row in rows]).values_list("pk", "reason"))
        other = [row for row, one in zip(rows, found, strict=True) if listed(row.columns) != listed(one.columns)]
        for row, one in zip(rows, found, strict=True):
            older = reasons.get(row.pk, "").startswith(OLDER)
            due.finish(
                row,
                due_at=moment + AGAIN if one.state == "partly" else None,
                state=one.state,
                columns=one.columns,
                reason=_with_mark(one.reason) if older else one.reason,
                computed_at=moment,
            )
    _tell_those_below([row.asset_id for row in other])


def _tell_those_below(asset_ids: Sequence[int]) -> None:
    """Code that reads a table whose own code gives out other columns than before, and that was not sure, is read again.

    Where the catalogue has the columns of a table, nothing depends on what its code gives out.
    """
    lists = ColumnList.objects.filter(asset__in=asset_ids).values_list("asset_id", "items")
    known = {pk for pk, items in lists if complete({item["name"]: item["type"] for item in items})}
    below = EdgeClaim.objects.filter(from_asset__in=set(asset_ids) - known, removed_in__isnull=True)
    rows = ColumnLineage.objects.filter(asset__in=below.values("to_asset_id"), state__in=("known", "partly"))
    pks = list(rows.exclude(sql="").values_list("pk", flat=True)) if set(asset_ids) - known else []
    _make_due(pks)
