"""One table or reader: what it is, who answers for it, checks, values, builds, and what stands before and after it."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse

from catalog import selectors
from catalog.models import Asset, Build, Consumer
from catalog.services.next_reads import next_read
from foundation.clock import now
from incidents.models import Check, Metric, Result
from incidents.selectors import series
from incidents.services.checks import OURS
from spellbook.pages import sparkline
from spellbook.pages.frame import AuthenticatedRequest, page, show
from spellbook.pages.sight import Sight

LISTED = 12


@page("GET")
def asset(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """The page of one asset."""
    sight = Sight(request.user)
    row = sight.asset(pk)
    context: dict[str, Any] = {
        "asset": row,
        "full_name": selectors.full_name(row),
        "columns": selectors.columns(row),
        "relation": selectors.relation(row),
        "roles": row.roles.select_related("person__principal__name_row").order_by("role"),
        "notes": row.notes.select_related("author__name_row", "approved_by").order_by("-created_at")[:20],
        "checks": _checks(row),
        "metrics": _metrics(row),
        "builds": Build.objects.filter(outputs__asset=row).distinct().order_by("-announced_at")[:LISTED],
        "incidents": sight.incidents().filter(asset=row).order_by("-opened_at")[:LISTED],
        "fed_by": _neighbours(selectors.ancestors(row)),
        "feeds": _neighbours(selectors.descendants(row)),
        **_reading(row),
    }
    return show(request, "pages/asset.html", context)


def _checks(row: Asset) -> list[tuple[Check, Result | None]]:
    """Each check with its newest result; one that never ran has none, which the page says."""
    checks = list(row.checks.exclude(origin=OURS).order_by("kind", "column"))  # a watch is an order to measure
    newest: dict[int, Result] = {}
    for result in Result.objects.filter(check_run__in=checks).select_related("build").order_by("at", "pk"):
        newest[result.check_run_id] = result
    return [(check, newest.get(check.pk)) for check in checks]


def _metrics(row: Asset) -> list[tuple[Metric, sparkline.Sparkline]]:
    drawn = [(metric, sparkline.draw(series(metric))) for metric in row.metrics.all()]
    return [(metric, one) for metric, one in drawn if one is not None]


def _neighbours(walked: list[tuple[Asset, int]]) -> dict[str, Any]:
    return {"near": [one for one, hops in walked if hops == 1], "total": len(walked)}


def _reading(row: Asset) -> dict[str, Any]:
    related = ("sync", "approved_by__principal", "confirm_source")
    consumer = Consumer.objects.select_related(*related).filter(asset=row).first()
    if consumer is None:
        return {"consumer": None}
    return {"consumer": consumer, "sync": getattr(consumer, "sync", None), "next_read": next_read(consumer, now())}
