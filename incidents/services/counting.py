"""Counting the rows of one table by Spellbook's own query, as a value of a build."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q

from catalog.models import Asset, Build
from catalog.selectors import relation
from catalog.warehouse_access import open_for
from catalog.warehouses.base import TableMissing, TimedOut, count_sql
from foundation.audit import Actor
from foundation.clock import now
from foundation.errors import SpellbookError, Unavailable
from incidents.models import Check, Result, Value
from incidents.services.record import Recorded, record
from incidents.services.results import Said, keep

ROW_COUNT = "row_count"
OURS, MEASURED = "spellbook", "measured"
TIMEOUT = timedelta(seconds=60)
PATIENCE = timedelta(minutes=15)
STATUS = {"held": "passed", "breach": "failed"}


@dataclass(frozen=True)
class Counted:
    """The rows of a table, the query that counted them, and a moment at which that was so."""

    rows: int
    query: str
    at: datetime


def count(asset: Asset, build: Build | None, *, actor: Actor, judged: bool = True) -> Result:
    """Measure one row count now, record it as a value of the build, and keep the check's result.

    What cannot be counted is *not evaluated*, with the reason. A count that stands for the build is never taken again:
    the table may be another by now. Raises Unavailable while the warehouse cannot be asked (locked, away) and the build
    was announced less than 15 minutes ago, so that whoever reviews it asks again.
    """
    check, _ = Check.objects.get_or_create(asset=asset, kind=ROW_COUNT, column="", origin=MEASURED, local_id="")
    counted = _standing(asset, build) or _counted(asset, build)
    if isinstance(counted, str):
        return keep(check, build, Said("not_evaluated", counted), actor=actor)
    recorded = record(
        asset, ROW_COUNT, counted.rows, actor=actor, at=counted.at, build_key=build.key if build else None,
        obtained="measured", query=counted.query, judged=judged,
    )  # fmt: skip
    return keep(check, build, _said(recorded, counted), actor=actor, opens=False, incident=recorded.incident)


def _said(recorded: Recorded, counted: Counted) -> Said:
    band, observed = recorded.baseline, {"rows": str(counted.rows)}
    if band is None:
        return Said("not_evaluated", "values of this domain are kept and not judged", observed, counted.query)
    return Said(STATUS.get(band.verdict, "not_evaluated"), band.reason, observed, counted.query)


def _standing(asset: Asset, build: Build | None) -> Counted | None:
    """The count that was recorded before a crash and has no result yet."""
    rows = Value.objects.filter(metric__asset=asset, metric__name=ROW_COUNT, obtained=MEASURED)
    value = rows.filter(build=build).first() if build is not None else None
    return Counted(int(value.number), value.query, value.at) if value is not None else None


def _counted(asset: Asset, build: Build | None) -> Counted | str:
    """The count, or why there is none."""
    later = _later(asset, build) if build is not None else None
    if later is not None:
        return f"the build {later.key} may have written the table before it was counted"
    table = relation(asset)
    if table is None:
        return "no table in a warehouse is known for it"
    try:
        warehouse = open_for(asset)
    except SpellbookError as error:  # no connection is declared; asking again would not help
        return str(error)
    query = count_sql(table, warehouse.dialect)
    try:
        found = warehouse.select(query, label=ROW_COUNT, timeout=TIMEOUT, row_limit=1)
        return Counted(int(found.scalar()), query, found.measured_at)
    except TableMissing:
        return f"the table {table} is missing"
    except SpellbookError as error:
        if _passes(error) and build is not None and now() - build.announced_at < PATIENCE:
            raise
        return str(error).removeprefix("not evaluated: ")


def _passes(error: SpellbookError) -> bool:
    """Whether the reason may be gone in a while: a lock or an outage, not a query that is too slow."""
    return isinstance(error, Unavailable) and not isinstance(error, TimedOut)


def _later(asset: Asset, build: Build) -> Build | None:
    """A build announced after this one that wrote the asset, or of which it is not known yet what it wrote."""
    newer = Build.objects.filter(announced_at__gt=build.announced_at).exclude(kind__in=("sync", "unknown"))
    unread = Q(processed_at__isnull=True, connection=build.connection)
    return newer.filter(Q(outputs__asset=asset) | unread).order_by("announced_at").first()
