"""Lineage of an asset in one direction: the list with its filters, the drawing of it where it is small, and exports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.http import HttpResponse

from catalog.graph.lineage import Lineage, LineagePage
from catalog.graph.lineage_rows import name_of
from catalog.graph.walks import Direction
from catalog.models import Asset
from foundation.clock import DatabaseNow
from foundation.errors import BadInput, NotFound
from spellbook.pages import graph
from spellbook.pages.frame import AuthenticatedRequest, page, show, whole
from spellbook.pages.lineage_export import as_csv, as_json, attached
from spellbook.sight import Sight

HOPS = (1, 2, 3)
ROWS = 100
MOST_KINDS = 50


@page("GET")
def lineage(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """What feeds the asset, or with `direction=down` what it feeds."""
    return shown(request, pk, _direction(request), "pages/lineage.html")


@page("GET")
def export_csv(request: AuthenticatedRequest, pk: int) -> Any:
    """Every row of the page with the same query, as CSV (RFC 4180)."""
    found = _found(request, Sight(request.user), pk, _direction(request))
    return attached(request, as_csv(found), _file(found, "csv"), "text/csv; charset=utf-8")


@page("GET")
def export_json(request: AuthenticatedRequest, pk: int) -> Any:
    """As `export_csv`, with the counts of the page."""
    found = _found(request, Sight(request.user), pk, _direction(request))
    return attached(request, as_json(found), _file(found, "json"), "application/json")


def shown(request: AuthenticatedRequest, pk: int, direction: Direction, template: str) -> HttpResponse:
    """The page of one direction. Query: `hops`, `kind` (any number), `version`, `page` (of 100 rows)."""
    sight = Sight(request.user)
    found = _found(request, sight, pk, direction)
    number = whole(request, "page") or 1
    drawing = _drawing(found, sight)  # first: it reads the assets of all rows at once
    view = found.page((number - 1) * ROWS, ROWS)
    context = {
        "sight": sight,
        "asset": found.asset,
        "view": view,
        "readers": [row for row in view.rows if row.reader and direction == "down"],
        "others": [row for row in view.rows if not (row.reader and direction == "down")],
        "kinds": [(kind, count, kind in found.kinds_wanted) for kind, count in view.kinds.items()],
        "hops": whole(request, "hops"),
        "choices": HOPS,
        "version": whole(request, "version"),
        "pages": Pages(number, view),
        "drawing": drawing,
        "most_drawn": graph.MOST_DRAWN,
    }
    return show(request, template, context)


@dataclass(frozen=True)
class Pages:
    """Where the reader of the page is: rows `first` to `last` of `view.found`."""

    number: int
    view: LineagePage

    @property
    def first(self) -> int:
        return self.view.offset + 1

    @property
    def last(self) -> int:
        return self.view.offset + len(self.view.rows)

    @property
    def before(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def after(self) -> int | None:
        return self.number + 1 if self.last < self.view.found and self.view.rows else None


def _found(request: AuthenticatedRequest, sight: Sight, pk: int, direction: Direction) -> Lineage:
    asset, moment = _asset(sight, pk)
    return Lineage(
        asset,
        direction=direction,
        at=moment,
        hops=whole(request, "hops"),
        kinds=request.GET.getlist("kind")[:MOST_KINDS],
        version=whole(request, "version"),
        hidden=sight.hidden_domains,
    )


def _file(found: Lineage, ending: str) -> str:
    return f"lineage-{found.asset.pk}-{found.direction}-version-{found.graph.version}.{ending}"


def _asset(sight: Sight, pk: int) -> tuple[Asset, datetime]:
    """The asset and the database's time in one query; the hidden domains are asked for in any case."""
    found = Asset.objects.select_related("domain").annotate(moment=DatabaseNow()).filter(pk=pk).first()
    if found is None or not sight.sees(found):
        raise NotFound("There is no such table, or it is not for your eyes.")
    return found, found.moment  # type: ignore[attr-defined]  # annotated


def _direction(request: AuthenticatedRequest) -> Direction:
    text = request.GET.get("direction", "up")
    if text not in ("up", "down"):
        raise BadInput("The direction is up or down.")
    return "down" if text == "down" else "up"


def _drawing(found: Lineage, sight: Sight) -> graph.Drawing | None:
    """The subgraph within the hop limit, whatever kinds are listed; None where it is too large for the eye."""
    if len(found.walk) >= graph.MOST_DRAWN:
        return None
    ids = found.walk.ids.tolist()
    labels = {found.asset.pk: _label(found.asset.name, found.asset.kind, "origin", sight)}
    rows = found.assets({found.asset.pk, *ids})
    for pk, node in zip(ids, found.walk.nodes.tolist(), strict=True):
        kind = f"{rows[pk].kind}, on a cycle" if found.graph.cyclic[node] else rows[pk].kind
        said = found.readings[node].said.status if node in found.readings else ""
        role = {"": "table", "suggested": "suggested reader"}.get(said, "reader")
        labels[pk] = _label(name_of(rows[pk], sight.hidden_domains), kind, role, sight)
    drawn = graph.draw(found.asset.pk, labels, found.edges())
    return None if drawn is None else _unlinked(drawn, [pk for pk in ids if rows[pk].domain_id in sight.hidden_domains])


def _label(name: str, kind: str, role: str, sight: Sight) -> graph.Label:
    called = sight.called(name)
    return graph.Label(called, kind, role, called if called == name else f"{called}, {name}")


def _unlinked(drawn: graph.Drawing, hidden: Sequence[int]) -> graph.Drawing:
    """A node that this person may not open stands in the drawing without a link."""
    nodes = [replace(node, asset_id=None) if node.asset_id in hidden else node for node in drawn.nodes]
    return replace(drawn, nodes=nodes)
