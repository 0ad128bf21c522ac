"""The blast radius of an asset: readers by time to damage, then every asset reached, and the drawing of them alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse

from catalog.selectors import assets_by_id
from spellbook.pages import lineage
from spellbook.pages.frame import AuthenticatedRequest, page
from spellbook.sight import Sight
from spellbook.walks import veiled


@page("GET")
def blast_radius(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """List and drawing of what the asset feeds; the query is that of `lineage.shown`."""
    return lineage.shown(request, pk, "down", "pages/blast_radius.html")


def listed(reached: Mapping[str, Any], sight: Sight) -> dict[str, Any]:
    """A frozen reach as a page lists it, names of restricted domains hidden: `readers`, `others`, totals, next read."""
    known = veiled({"nodes": [], "consumers": [], **reached}, sight)
    nodes, consumers = known["nodes"], known["consumers"]
    assets = assets_by_id([one["asset_id"] for one in [*nodes, *consumers]])
    reading = {one["asset_id"] for one in consumers}
    return {
        "readers": [{**one, "asset": assets.get(one["asset_id"])} for one in consumers],
        "others": [{**one, "asset": assets.get(one["asset_id"])} for one in nodes if one["asset_id"] not in reading],
        "total": reached.get("total", 0),
        "truncated": reached.get("truncated", False),
        "next_read": reached.get("next_read"),
        "graph_version": reached.get("graph_version"),
    }
