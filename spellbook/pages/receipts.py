"""Receipts: the list, one receipt in words with its place in the ledger, its offline bundle, and the published keys."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from approvals import selectors as approvals
from approvals.models import LedgerKey, Receipt
from approvals.services import receipts as service
from foundation.people import display_name
from spellbook.pages.frame import AuthenticatedRequest, page, show
from spellbook.sight import Sight

MOST = 200
PEOPLE = ("principal", "closed_by", "author", "operator", "proposed_by", "seconded_by")


@page("GET")
def receipts(request: AuthenticatedRequest) -> HttpResponse:
    """The newest receipts."""
    sight = Sight(request.user)
    rows = Receipt.objects.select_related("leaf").defer("statement", "envelope")[:MOST]
    return show(request, "pages/receipts.html", {"receipts": [row for row in rows if sight.reads_receipt(row)]})


@page("GET")
def receipt(request: AuthenticatedRequest, pk: UUID) -> HttpResponse:
    """One receipt, readable and printable."""
    row = Sight(request.user).receipt(pk)
    statement = json.loads(bytes(row.statement))
    predicate = statement.get("predicate", {})
    context = {
        "receipt": row,
        "facts": facts({name: value for name, value in predicate.items() if name != "receipts"}),
        "environment": predicate.get("environment"),
        "linked": _linked(predicate),
        "subjects": statement.get("subject", []),
        "predicate_type": statement.get("predicateType", ""),
        "leaf": getattr(row, "leaf", None),
        "checkpoint": approvals.sealed_in(row),
        "origin": settings.SPELLBOOK_ORIGIN,
    }
    return show(request, "pages/receipt.html", context)


@page("GET")
def bundle(request: AuthenticatedRequest, pk: UUID) -> HttpResponse:
    """The zip that anybody can check offline; 409 while the receipt is not sealed."""
    row = Sight(request.user).receipt(pk)
    answer = HttpResponse(service.export(row), content_type="application/zip")
    answer["Content-Disposition"] = f'attachment; filename="receipt-{row.type}-{row.pk}.zip"'
    return answer


@never_cache
@require_safe
def keys(request: HttpRequest) -> HttpResponse:
    """The published vkeys, one a line, newest first; 404 before the first seal. Asks for no sign-in."""
    lines = list(LedgerKey.objects.values_list("vkey", flat=True))
    if not lines:
        return HttpResponse("No receipt was sealed yet, so no key is published.\n", "text/plain", status=404)
    return HttpResponse("".join(f"{line}\n" for line in lines), "text/plain; charset=utf-8")


@dataclass(frozen=True)
class Fact:
    """One line of a receipt in words: plain text, or parts of its own (`many` marks a list of them)."""

    label: str
    text: str
    parts: list[list[Fact]]
    code: bool = False


def facts(predicate: dict[str, Any]) -> list[Fact]:
    """A predicate as nested lines; principals are named as they are known today, digests stay as they are."""
    return [_fact(name, value) for name, value in predicate.items()]


def _fact(name: str, value: Any) -> Fact:
    label = name.replace("_", " ").replace("sha256", "SHA-256")
    if isinstance(value, dict):
        return Fact(label, "" if value else "none", [facts(value)] if value else [])
    if isinstance(value, list) and any(isinstance(one, dict) for one in value):
        return Fact(label, "", [facts(one) for one in value if isinstance(one, dict)])
    if isinstance(value, list):
        return Fact(label, ", ".join(map(str, value)) or "none", [])
    return Fact(label, _text(name, value), [], code=_is_code(name, value))


def _text(name: str, value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name in PEOPLE and isinstance(value, str):
        return _person(value)
    return str(value) or "none"


def _person(value: str) -> str:
    try:
        return f"{display_name(UUID(value))} ({value})"
    except ValueError:
        return value


def _is_code(name: str, value: Any) -> bool:
    return isinstance(value, str) and ("digest" in name or "sha256" in name or name in ("commit", "undo_of"))


def _linked(predicate: dict[str, Any]) -> list[dict[str, Any]]:
    """The receipts that this one names by digest, with their pages where this installation holds them."""
    named = [(one.get("name", ""), one.get("digest", {}).get("sha256", "")) for one in predicate.get("receipts", [])]
    rows = Receipt.objects.filter(statement_sha256__in=[digest for _, digest in named])
    known = {row.statement_sha256: row for row in rows.defer("statement", "envelope")}
    return [{"name": name, "sha256": digest, "row": known.get(digest)} for name, digest in named]
