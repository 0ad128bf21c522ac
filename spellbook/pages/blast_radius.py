"""The blast radius of an asset: readers first, then every asset reached, and the drawing of that subgraph alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse

from catalog.models import Asset
from catalog.reach import reach as draw_reach
from foundation.clock import now
from foundation.errors import BadInput
from spellbook.pages import graph
from spellbook.pages.frame import AuthenticatedRequest, page, show
from spellbook.pages.sight import Sight

HOPS = ("1", "2", "3")


@page("GET")
def blast_radius(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """List and drawing; `hops` limits how far, at least 1."""
    sight = Sight(request.user)
    row = sight.asset(pk)
    text = request.GET.get("hops", "")
    if text and not (text.isascii() and text.isdigit() and len(text) < 4):
        raise BadInput("The number of hops is a whole number of at least 1.")
    reached = draw_reach(row, at=now(), hops=int(text) if text else None).as_dict()
    found = listed(reached, sight)
    drawing = _drawing(row, reached, sight, found["assets"])
    context = {"asset": row, "hops": text, "choices": HOPS, "reach": found, "drawing": drawing, **found}
    return show(request, "pages/blast_radius.html", context)


def listed(reached: Mapping[str, Any], sight: Sight) -> dict[str, Any]:
    """A reach as a page lists it, names of restricted domains hidden: `readers`, `others`, totals and the next read."""
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


def _drawing(row: Asset, reached: Mapping[str, Any], sight: Sight, assets: Mapping[int, Asset]) -> graph.Drawing | None:
    reading = {one["asset_id"] for one in reached["consumers"]}
    labels = {
        pk: graph.Label(sight.name(one), one.kind, "reader" if pk in reading else "table") for pk, one in assets.items()
    }
    labels[row.pk] = graph.Label(row.name, row.kind, "origin")
    drawn = graph.draw(row.pk, labels, reached["edges"])
    return None if drawn is None else _unlinked(drawn, {pk for pk, one in assets.items() if not sight.sees(one)})


def _unlinked(drawn: graph.Drawing, hidden: set[int]) -> graph.Drawing:
    """A node that this person may not open stands in the drawing without a link."""
    nodes = [
        graph.Node(None, node.x, node.y, node.label, node.full, node.kind, node.role)
        if node.asset_id in hidden
        else node
        for node in drawn.nodes
    ]
    return graph.Drawing(nodes, drawn.edges, drawn.width, drawn.height)
