"""The graph's history: its versions, what one of them changed, and when the claims about one asset stood."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse

from catalog import selectors
from catalog.graph import history as graph
from catalog.graph.versions import head_version, version_at
from catalog.models import NodeClaim
from foundation.errors import BadInput
from spellbook.pages.frame import AuthenticatedRequest, page, show
from spellbook.sight import Sight

LISTED = 50
SHOWN = 100
MOST = 2**62


@page("GET")
def history(request: AuthenticatedRequest) -> HttpResponse:
    """The versions, newest first; `source` narrows, `at` begins with the one that stood then, `before` pages."""
    source, at = request.GET.get("source", ""), request.GET.get("at", "").strip()
    before = _number(request, "before")
    stood = version_at(_moment(at)) if at else 0
    if at and before is None:
        before = stood + 1
    listed = graph.versions(source=source, before=before, limit=LISTED)
    older = urlencode({"source": source, "before": listed.older}) if listed.older is not None else ""
    context = {"listed": listed, "source": source, "sources": graph.sources(), "at": at, "stood": stood, "older": older}
    return show(request, "pages/history.html", {**context, "first": before is None or bool(at)})


@page("GET")
def version(request: AuthenticatedRequest, number: int) -> HttpResponse:
    """What one version changed; `assets` and `edges` are where the two lists begin."""
    row = graph.version(min(number, MOST))
    nodes = graph.changes(row.version.number, offset=_number(request, "assets") or 0, limit=SHOWN)
    edges = graph.edge_changes(row.version.number, offset=_number(request, "edges") or 0, limit=SHOWN)
    context = {"row": row, "nodes": nodes, "edges": edges, "head": head_version(), **_pages(nodes, edges)}
    return show(request, "pages/version.html", context)


@page("GET")
def asset_history(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Every claim about one asset and its edges, with the versions between which it stood."""
    row = Sight(request.user).asset(min(pk, MOST))
    nodes = graph.node_intervals(row, offset=_number(request, "assets") or 0, limit=SHOWN)
    edges = graph.edge_intervals(row, offset=_number(request, "edges") or 0, limit=SHOWN)
    gone = not NodeClaim.objects.filter(asset=row, removed_in__isnull=True).exists()
    context = {"asset": row, "full_name": selectors.full_name(row), "nodes": nodes, "edges": edges, "gone": gone}
    return show(request, "pages/asset_history.html", {**context, **_pages(nodes, edges)})


def _pages(nodes: graph.Page, edges: graph.Page) -> dict[str, Any]:
    """The addresses of the further parts of two lists on one page, "" where there are none."""
    found: dict[str, Any] = {}
    for name, one, other in (("nodes", nodes, edges), ("edges", edges, nodes)):
        ours, theirs = ("assets", "edges") if name == "nodes" else ("edges", "assets")
        ahead, back = one.offset + SHOWN, max(0, one.offset - SHOWN)
        found[f"{name}_next"] = urlencode({ours: ahead, theirs: other.offset}) if one.truncated else ""
        found[f"{name}_back"] = urlencode({ours: back, theirs: other.offset}) if one.offset else ""
    return found


def _number(request: AuthenticatedRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()) or len(text) > 18:
        raise BadInput(f"{name} is a whole number from 0.")
    return int(text)


def _moment(text: str) -> datetime:
    """A moment in UTC as the form gives it, or with a zone of its own."""
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):  # the first and the last hours of the calendar do not exist in every zone
        raise BadInput("The moment is written as 2026-01-31T09:00, in UTC.") from None
