"""What was checked and measured of one table, for `explain`."""

from __future__ import annotations

from typing import Any

from django.db.models import OuterRef, Subquery

from catalog.models import Asset
from foundation.canonical import timestamp
from incidents.models import Check, Metric, Result, Value
from incidents.services.checks import OURS
from incidents.services.record import plain


def checks(asset: Asset) -> list[dict[str, Any]]:
    """Each check with its newest result as plain JSON."""
    return [_check(check, last) for check, last in last_results(asset)]


def last_results(asset: Asset) -> list[tuple[Check, Result | None]]:
    """Each check with its newest result; a watch, which is an order to measure, is not among them. Two queries."""
    newest = Result.objects.filter(check_run=OuterRef("pk")).order_by("-at", "-pk")
    rows = Check.objects.filter(asset=asset).exclude(origin=OURS).order_by("kind", "column", "pk")
    told = list(rows.annotate(newest=Subquery(newest.values("pk")[:1])))
    results = Result.objects.select_related("build").in_bulk([one.newest for one in told if one.newest])
    return [(one, results.get(one.newest or 0)) for one in told]


def metrics(asset: Asset) -> list[dict[str, Any]]:
    """Each metric with its newest value and what was thought of it."""
    newest = Value.objects.filter(metric=OuterRef("pk"), withdrawn_at__isnull=True).order_by("-at", "-pk")
    told = list(Metric.objects.filter(asset=asset).annotate(newest=Subquery(newest.values("pk")[:1])))
    values = Value.objects.select_related("baseline").in_bulk([one.newest for one in told if one.newest])
    return [_metric(one, values.get(one.newest or 0)) for one in told]


def _check(check: Check, last: Result | None) -> dict[str, Any]:
    result = {"status": last.status, "reason": last.reason, "at": timestamp(last.at)} if last else "never evaluated"
    return {"kind": check.kind, "column": check.column, "origin": check.origin, "last": result}


def _metric(metric: Metric, last: Value | None) -> dict[str, Any]:
    if last is None:
        return {"name": metric.name, "last": "not known yet"}
    baseline = getattr(last, "baseline", None)
    return {
        "name": metric.name,
        "last": plain(last.number),
        "at": timestamp(last.at),
        "verdict": baseline.verdict if baseline else "not judged",
    }
