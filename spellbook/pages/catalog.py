"""The catalogue: every asset that this person may see, searched, narrowed and ordered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Exists, Max, OuterRef, Q
from django.http import HttpResponse, QueryDict
from django.shortcuts import render

from catalog.graph.answering import answering
from catalog.models import Asset, AssetRole, Domain
from catalog.search.find import SORTS, Found, SearchPage, Sort, find
from foundation.errors import BadInput
from foundation.models import Person
from foundation.people import display_name
from incidents.models import Incident
from spellbook.pages.frame import AuthenticatedRequest, page, show
from spellbook.sight import Sight
from spellbook.trust import scores

SHOWN = 50
FARTHEST = 20_000  # pages; what lies behind is not reached by turning pages
COLUMNS = (("name", "Name"), ("", "Owner"), ("", "Trust"), ("kind", "Kind"), ("domain", "Domain"), ("", "Last build"),
           ("", "Feeds"))  # fmt: skip
ORDERS = (("", "the best first"), ("name", "by name"), ("-name", "by name, backwards"), ("kind", "by kind"),
          ("-kind", "by kind, backwards"), ("domain", "by domain"), ("-domain", "by domain, backwards"))  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """What the address asks for."""

    q: str
    kind: str
    domain: str
    owner: str
    sort: Sort
    page: int

    @classmethod
    def of(cls, fields: QueryDict) -> Asked:
        """BadInput for an owner or a page that is no number, or an order that is none."""
        number, owner, sort = fields.get("page", "1"), fields.get("owner", ""), fields.get("sort", "")
        if not _whole(number) or not 1 <= int(number) <= FARTHEST:
            raise BadInput(f"The page is a number from 1 to {FARTHEST:,}.")
        if (owner and not _whole(owner)) or sort not in SORTS:
            raise BadInput("The owner is chosen from the list, and the order by name, kind or domain.")
        q, kind, domain = (fields.get(name, "").strip() for name in ("q", "kind", "domain"))
        return cls(q, kind, domain, owner, sort, int(number))

    @property
    def narrowed(self) -> bool:
        """Whether a filter is set."""
        return bool(self.kind or self.domain or self.owner)

    def address(self, **other: Any) -> str:
        """The address of the same page with `other` fields."""
        fields = {"q": self.q, "kind": self.kind, "domain": self.domain, "owner": self.owner, "sort": self.sort}
        kept = {name: value for name, value in {**fields, **other}.items() if value}
        return f"/catalog?{urlencode(kept)}" if kept else "/catalog"


@page("GET")
def catalog(request: AuthenticatedRequest) -> HttpResponse:
    """The list; `q`, `kind`, `domain`, `owner`, `sort`, `page` shape it. An htmx request gets the results alone."""
    asked = Asked.of(request.GET)
    found = _find(asked, request.user, SHOWN)
    context = {**_results(asked, found), "wider": _wider(asked, found, request.user)}
    if request.htmx:
        return render(request, "pages/catalog.html#results", {**context, "sight": Sight(request.user)})
    return show(request, "pages/catalog.html", {**context, **_choices(Sight(request.user))})


def _find(asked: Asked, person: Person, limit: int) -> SearchPage:
    owner = Person.objects.filter(pk=int(asked.owner)).first() if asked.owner else None
    if asked.owner and owner is None:
        raise BadInput("There is no such owner; choose one from the list.")
    domains = [asked.domain.removeprefix("-")] if asked.domain else []  # "-" asks for assets without a domain
    return find(
        asked.q, person, kinds=[asked.kind] if asked.kind else [], domains=domains, owner=owner, sort=asked.sort,
        offset=(asked.page - 1) * SHOWN, limit=limit,
    )  # fmt: skip


def _results(asked: Asked, found: SearchPage) -> dict[str, Any]:
    assets = _assets([row.asset for row in found.rows])
    return {
        "q": asked.q,
        "asked": asked,
        "found": found,
        "total": found.total,
        "assets": assets,
        "rows": list(_rows(found.rows, assets)),
        "columns": [_head(asked, key, word) for key, word in COLUMNS],
        "in_columns": sum(len(row.columns) for row in found.rows) if _only_columns(found) else 0,
        "meant": [(text, asked.address(q=text)) for text in found.did_you_mean],
        "first": found.offset + 1,
        "last": found.offset + len(found.rows),
        "earlier": asked.address(page=asked.page - 1 if asked.page > 2 else "") if asked.page > 1 else "",
        "later": asked.address(page=asked.page + 1) if found.truncated else "",
        "clear": asked.address(q=""),
    }


def _only_columns(found: SearchPage) -> bool:
    """Whether every hit is one of columns and all of them are here, so that the columns can be counted."""
    return not found.truncated and not found.offset and all(row.rank == "columns" for row in found.rows)


def _assets(assets: Sequence[Asset]) -> list[Asset]:
    """The same assets with what the list says of each."""
    live = Incident.objects.exclude(state="closed").filter(asset=OuterRef("pk"))
    told = Asset.objects.select_related("domain__owner__principal__name_row").annotate(
        last_build=Max("outputs__build__announced_at"),
        feeds=Count("edges_out__to_asset", filter=Q(edges_out__removed_in__isnull=True), distinct=True),
        flagged=Exists(live),
    )
    by_id = told.in_bulk([asset.pk for asset in assets])
    return [by_id[asset.pk] for asset in assets]


def _rows(found: Sequence[Found], assets: Sequence[Asset]) -> Iterator[dict[str, Any]]:
    people, trust = answering(assets), scores(assets)
    for row, asset in zip(found, assets, strict=True):
        owner = people.get(asset.pk, {}).get("owner")
        named = display_name(owner.principal) if isinstance(owner, Person) else owner
        yield {"asset": asset, "found": row, "owner": named, "trust": trust[asset.pk]}


def _head(asked: Asked, key: str, word: str) -> dict[str, str]:
    """A column's head: its word, how it is ordered now, and the address that orders by it or turns the order round."""
    by = asked.sort or ("" if asked.q else "name")
    now = {key: "ascending", f"-{key}": "descending"}.get(by, "") if key else ""
    other = f"-{key}" if now == "ascending" else key
    return {"word": word, "now": now, "address": asked.address(sort=other) if key else ""}


def _wider(asked: Asked, found: SearchPage, person: Person) -> tuple[int, str] | None:
    """How many there would be without the filters, when they leave nothing."""
    if found.total or not asked.narrowed:
        return None
    free = Asked(asked.q, "", "", "", asked.sort, 1)
    total = _find(free, person, 0).total
    return (total, free.address()) if total else None


def _choices(sight: Sight) -> dict[str, Any]:
    """What the filters offer; of restricted domains that these eyes do not see neither the name nor who owns there."""
    domains = Domain.objects.exclude(pk__in=sight.hidden_domains)
    roles = AssetRole.objects.exclude(asset__domain__in=sight.hidden_domains)
    owns = Exists(roles.filter(person=OuterRef("pk"), role="owner"))
    owners = Person.objects.filter(owns | Exists(domains.filter(owner=OuterRef("pk"))), is_active=True)
    named = owners.select_related("principal__name_row")[:500]
    return {
        "kinds": sorted(Asset.objects.order_by().values_list("kind", flat=True).distinct()),
        "domains": domains.order_by("name"),
        "orders": ORDERS,
        "owners": sorted(((str(one.pk), display_name(one.principal)) for one in named), key=lambda one: one[1]),
    }


def _whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19
