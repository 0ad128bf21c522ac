"""The blast radius of an asset: readers by time to damage, then every asset reached, and the drawing of them alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse

from catalog.models import Asset
from spellbook.pages import lineage
from spellbook.pages.frame import AuthenticatedRequest, page
from spellbook.pages.sight import Sight


@page("GET")
def blast_radius(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """List and drawing of what the asset feeds; the query is that of `lineage.shown`."""
    return lineage.shown(request, pk, "down", "pages/blast_radius.html")


def listed(reached: Mapping[str, Any], sight: Sight) -> dict[str, Any]:
    """A frozen reach as a page lists it, names of restricted domains hidden: `readers`, `others`, totals, next read."""
    nodes, consumers = reached.get("nodes", []), reached.get("consumers", [])
    assets = sight.by_id([one["asset_id"] for one in [*nodes, *consumers]])
    reading = {one["asset_id"] for one in consumers}
    return {
        "assets": assets,
        "readers": [_reader(one, assets, sight) for one in consumers],
        "others": [{**one, "asset": assets.get(one["asset_id"])} for one in nodes if one["asset_id"] not in reading],
        "total": reached.get("total", 0),
        "truncated": reached.get("truncated", False),
        "next_read": reached.get("next_read"),
        "graph_version": reached.get("graph_version"),
    }


def _reader(one: Mapping[str, Any], assets: Mapping[int, Asset], sight: Sight) -> dict[str, Any]:
    """One reader; of a restricted one kind, owner and times stay, and what people wrote of it goes with the name."""
    asset = assets.get(one["asset_id"])
    hidden = {other.name for other in assets.values() if not sight.sees(other)}
    through = "a reader of a restricted domain" if one["through"] in hidden else one["through"]
    shown = {**one, "asset": asset, "through": through}
    return (
        shown
        if asset is None or sight.sees(asset)
        else {**shown, "consequence": "", "delete_rule": "", "tool": "a tool"}
    )
