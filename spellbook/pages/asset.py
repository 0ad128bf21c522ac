"""One table or reader on one page: what it is and how far it can be relied on, then one part of the rest by its tab."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse

from catalog import selectors
from catalog.models import Asset, Consumer
from catalog.selectors import definition_of
from foundation.errors import NotFound
from spellbook.pages.asset_tabs import TABS, Part
from spellbook.pages.frame import AuthenticatedRequest, page, show, whole
from spellbook.pages.withdrawn import Withdrawal, withdrawal
from spellbook.sight import Sight
from spellbook.trust import scores

EARLIER = {"history": "definition"}
"""Parts by the names that addresses of earlier versions have."""


@page("GET")
def asset(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """The page of one asset; `tab` names the part that is shown, by default the overview."""
    sight, asked = Sight(request.user), request.GET.get("tab", "overview")
    chosen = EARLIER.get(asked, asked)
    row = sight.asset(pk)
    if chosen not in TABS:
        raise NotFound(f"There is no part of this page called {chosen[:40]!r}; it has {', '.join(TABS)}.")
    context: dict[str, Any] = {
        "asset": row,
        "full_name": selectors.full_name(row),
        "trust": scores([row])[row.pk],
        "definition": definition_of(row),
        "incidents": sight.incidents().filter(asset=row).exclude(state="closed").order_by("-opened_at"),
        "asked_version": whole(request, "version"),
        "withdrawal": _withdrawal(row, sight),
        "tabs": _tabs(row, chosen),
        "part": f"parts/asset/{chosen}.html",
        **TABS[chosen].read(row, sight),
    }
    return show(request, "pages/asset.html", context)


def _withdrawal(row: Asset, sight: Sight) -> Withdrawal | None:
    consumer = Consumer.objects.filter(asset=row, status="withdrawn").first()
    return withdrawal(consumer, sight) if consumer else None


def _tabs(row: Asset, chosen: str) -> list[dict[str, Any]]:
    return [{"label": part.label, "address": _address(row, name), "here": name == chosen} for name, part in _parts()]


def _parts() -> list[tuple[str, Part]]:
    return list(TABS.items())


def _address(row: Asset, name: str) -> str:
    return f"/assets/{row.pk}" if name == "overview" else f"/assets/{row.pk}?tab={name}"
