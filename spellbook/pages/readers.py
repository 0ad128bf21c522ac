"""The register of all readers and syncs with what is missing of each, and the page of one with its form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpResponse, JsonResponse

from catalog.declared_readers import standing
from catalog.models import Asset
from catalog.names import find_each
from catalog.register import GAPS, ORDERS, RegisterPage, RegisterRow, register, row_as_dict
from foundation.clock import now
from foundation.errors import NotFound, SpellbookError
from foundation.models import AuditRow
from spellbook import repository_file
from spellbook.coverage import with_baseline
from spellbook.pages.frame import AuthenticatedRequest, page, show
from spellbook.pages.spreadsheet import lines as csv_lines
from spellbook.pages.waiting import waiting
from spellbook.sight import Sight

LIMIT: Final = 100
COLUMNS: Final = (
    "name", "kind", "status", "origin", "domain", "tool", "mode", "delete_rule", "cron", "zone", "triggered_by_api",
    "next_read", "last_useful_minute", "reads", "unmatched", "owner", "operator", "business_owner", "on_call",
    "tool_admin", "consequence", "contact", "approved_by", "approved_at", "suggested_by", "gaps",
)  # fmt: skip
SHORT: Final = {name: words.partition(", so ")[0] for name, words in GAPS.items()}
"""What may be missing, without what follows from it: the list above the readers says that once."""
FILES: Final = (repository_file.READ, repository_file.REFUSED)


@page("GET")
def readers(request: AuthenticatedRequest) -> HttpResponse:
    """Every reader with its gaps; `gap`, `syncs`, `order`, `descending` and `offset` narrow and turn the list."""
    sight, asked = Sight(request.user), _asked(request)
    found = register(now(), baselines=with_baseline, limit=LIMIT, **asked)
    suggested = waiting(sight)
    context = {
        "page": found,
        "asked": asked,
        "gaps": [(name, words, found.counts[name]) for name, words in GAPS.items()],
        "short": SHORT,
        "columns": _columns(asked),
        "query": _query(asked),
        "unmatched": _unmatched(sight),
        "suggestions": suggested[:LIMIT],
        "suggested": len(suggested),
        "files": _files(),
        "later": asked["offset"] + LIMIT if found.truncated else None,
        "earlier": max(asked["offset"] - LIMIT, 0) if asked["offset"] else None,
    }
    return show(request, "pages/readers.html", context)


@page("GET")
def export_csv(request: AuthenticatedRequest) -> HttpResponse:
    """The whole register, filtered as the page is, one reader a line."""
    sight = Sight(request.user)
    lines = "".join(csv_lines(COLUMNS, _cells(_all(request).rows, sight)))
    answer = HttpResponse(lines, content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="readers.csv"'
    return answer


@page("GET")
def export_json(request: AuthenticatedRequest) -> HttpResponse:
    """As `export_csv`, with lists as lists."""
    sight, found = Sight(request.user), _all(request)
    rows = [row_as_dict(row, named=sight.name) for row in found.rows]
    answer = JsonResponse({"total": found.total, "truncated": False, "gaps": dict(found.counts), "readers": rows})
    answer["Content-Disposition"] = 'attachment; filename="readers.json"'
    return answer


def _unmatched(sight: Sight) -> list[tuple[Asset, str, str]]:
    """What readers read and nobody knows, with what is near it; readers of hidden domains are counted, not named."""
    rows = standing().select_related("asset__domain").order_by("asset__name")
    lost = [(one.asset, name) for one in rows for name in one.attributes["unmatched"]][:LIMIT]
    known = find_each({name for _, name in lost})
    return [
        (asset, name if sight.sees(asset) else "a table", _why(known[name]) if sight.sees(asset) else "")
        for asset, name in lost
    ]


def _why(found: Asset | SpellbookError) -> str:
    if isinstance(found, Asset):
        return "is not in the graph any more"
    return "is not known" if isinstance(found, NotFound) else "means several tables"


def _query(asked: dict[str, Any], **other: Any) -> str:
    """The question of this page for an address, with some of it asked otherwise; from the first row on."""
    both = {**asked, "offset": 0, **other}
    return urlencode({name: 1 if value is True else value for name, value in both.items() if value})


def _columns(asked: dict[str, Any]) -> list[dict[str, str]]:
    """The heads of the table, those that can be sorted with their address and direction."""
    heads = {"Name": "name", "Kind": "kind", "Reads": "", "Next read": "next", "Owner": "", "Missing": "gaps"}
    found = []
    for word, order in heads.items():
        mine = bool(order) and asked["order"] == order
        sort = ("descending" if asked["descending"] else "ascending") if mine else ""
        query = _query(asked, order=order, descending=mine and not asked["descending"])
        found.append({"word": word, "order": order, "sort": sort, "query": query})
    return found


def _files() -> list[AuditRow]:
    """The newest word of each repository's file: one that cannot be used is said here."""
    newest: dict[str, AuditRow] = {}
    for row in AuditRow.objects.filter(action__in=FILES).select_related("detail").order_by("-pk")[:50]:
        facts = getattr(row, "detail", None)
        repository = facts.body.get("facts", {}).get("repository", "") if facts else ""
        newest.setdefault(repository, row)
    return list(newest.values())


def _asked(request: AuthenticatedRequest) -> dict[str, Any]:
    offset = request.GET.get("offset", "")
    return {
        "gap": request.GET.get("gap", "") if request.GET.get("gap", "") in GAPS else "",
        "syncs": request.GET.get("syncs", "") == "1",
        "order": request.GET.get("order", "") if request.GET.get("order", "") in ORDERS else "next",
        "descending": request.GET.get("descending", "") == "1",
        "offset": int(offset) if offset.isascii() and offset.isdigit() and len(offset) < 9 else 0,
    }


def _all(request: AuthenticatedRequest) -> RegisterPage:
    return register(now(), baselines=with_baseline, limit=None, **(_asked(request) | {"offset": 0}))


def _cells(rows: Iterable[RegisterRow], sight: Sight) -> Iterator[list[Any]]:
    for row in rows:
        said = row_as_dict(row, named=sight.name)
        said |= said["people"]
        yield [said.get(name) for name in COLUMNS]
