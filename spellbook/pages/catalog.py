"""The catalogue: every asset that this person may see, found by words of its name or description."""

from __future__ import annotations

from django.db.models import Count, Exists, Max, OuterRef, Q
from django.http import HttpResponse
from django.shortcuts import render

from catalog import selectors
from incidents.models import Incident
from spellbook.pages.frame import AuthenticatedRequest, page, show
from spellbook.pages.sight import Sight

MOST = 200


@page("GET")
def catalog(request: AuthenticatedRequest) -> HttpResponse:
    """The list; `q` narrows it. An htmx request gets the results alone."""
    text = request.GET.get("q", "").strip()[:200]
    found = selectors.search(text, request.user)
    total = found.count()
    live = Incident.objects.exclude(state="closed").filter(asset=OuterRef("pk"))
    rows = found.select_related("domain").annotate(
        last_build=Max("outputs__build__announced_at"),
        feeds=Count("edges_out__to_asset", filter=Q(edges_out__removed_in__isnull=True), distinct=True),
        flagged=Exists(live),
    )
    context = {"q": text, "total": total, "assets": rows.order_by("name")[:MOST], "most": MOST}
    if request.htmx:
        return render(request, "pages/catalog.html#results", {**context, "sight": Sight(request.user)})
    return show(request, "pages/catalog.html", context)
