"""The sign-off page: what is asked, of whom, until when, and the form of the one who decides."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.http import HttpResponse

from approvals import selectors as approvals
from approvals import shown
from approvals.models import Outcome, Request
from approvals.scope import is_dispatch
from approvals.services import decide as service
from catalog.selectors import assets_by_id
from foundation.clock import now
from foundation.errors import BadInput, NotFound, SpellbookError
from foundation.models import Person
from foundation.people import display_name
from spellbook.pages import plan_view
from spellbook.pages.blast_radius import listed
from spellbook.pages.frame import AuthenticatedRequest, actor_of, done, page, refused, show
from spellbook.sight import Sight

CHOICES = {"approve": "approve", "some": "approve", "reject": "reject"}


@dataclass(frozen=True)
class Typed:
    """What stands in the form: nothing at first, what was sent after a refusal."""

    decision: str = ""
    steps: list[str] = field(default_factory=list)
    reason: str = ""
    refusal: str = ""
    status: int = 200


@page("GET")
def request(request: AuthenticatedRequest, pk: UUID) -> HttpResponse:
    """The page; whoever cannot decide sees the same without the form, and why."""
    return _page(request, pk, Typed())


@page("POST")
def decision(request: AuthenticatedRequest, pk: UUID) -> HttpResponse:
    """Record a decision. A refusal shows the page as it is now, says why, and keeps the typed reason."""
    given = request.POST
    try:
        outcome = _decide(request, pk)
    except NotFound:
        raise
    except SpellbookError as error:
        if request.htmx:
            return refused(request, error, back=f"/requests/{pk}")
        typed = Typed(
            given.get("decision", ""), given.getlist("steps"), given.get("reason", "")[:5000], str(error), error.status
        )
        return _page(request, pk, typed)
    said = (
        f"Recorded: you {_past(given.get('decision', ''))}." if isinstance(outcome, Outcome) else "Recorded: your vote."
    )
    return done(request, f"/requests/{pk}", said)


def _decide(request: AuthenticatedRequest, pk: UUID) -> object:
    given = request.POST
    choice = given.get("decision", "")
    if choice not in CHOICES:
        raise BadInput("Choose one: approve all, approve some, or reject. Nothing was recorded.")
    return service.decide(
        pk,
        person=request.user,
        decision=CHOICES[choice],
        steps=_positions(given.getlist("steps")) if choice == "some" else None,
        reason=given.get("reason", ""),
        plan_digest=given.get("plan_digest", ""),
        shown_digest=given.get("shown_digest", ""),
        idempotency_key=given.get("idempotency_key", ""),
        actor=actor_of(request),
    )


def _positions(texts: list[str]) -> list[int]:
    if not all(text.isascii() and text.isdigit() and len(text) < 5 for text in texts):
        raise BadInput("A step is named by its number. Nothing was recorded.")
    return [int(text) for text in texts]


def _past(choice: str) -> str:
    return {"approve": "approved all steps", "some": "approved the chosen steps", "reject": "rejected the plan"}[choice]


def _page(http: AuthenticatedRequest, pk: UUID, typed: Typed) -> HttpResponse:
    sight = Sight(http.user)
    row = sight.request(pk)
    document = approvals.shown_document(row)
    chain = approvals.chain_rows(row)
    moment = now()
    why_not, joined = cannot(row, http.user, chain, moment), _joined(row, document, sight)
    context = {
        **plan_view.describe(row.plan, http.user),
        "asked": row,
        "shown": document,
        "reach": _reach(document, sight),
        "changed_damage": {one.pk for one in plan_view.damage(row.plan.incident) if _newer(one, row.created_at)},
        "joined": joined,
        "chain": chain,
        "next_in_chain": next((link for link in chain if link.starts_at > moment and not link.why_not), None),
        "expired": row.state == "pending" and moment >= row.expires_at,
        "why_not": why_not,
        "votes": row.votes.select_related("person__principal__name_row").order_by("at"),
        "may_decide": not why_not and not joined,
        "typed": typed,
        "key": uuid4(),
    }
    return show(http, "pages/request.html", context, status=typed.status)


def _reach(document: dict[str, Any], sight: Sight) -> dict[str, Any] | None:
    """The reach as frozen in the request; people stand in it by the UUID of their principal and are named here."""
    frozen = document.get("reach")
    if not frozen:
        return None
    found = listed(frozen, sight)
    for reader in found["readers"]:
        operator = reader.get("operator")
        reader["operator_name"] = display_name(UUID(operator)) if operator else ""
    return found


def _newer(damage: Any, moment: datetime) -> bool:
    return any(at is not None and at > moment for at in (damage.done_at, damage.repaired_at))


def _joined(row: Request, document: dict[str, Any], sight: Sight) -> list[str]:
    """Names of readers that read now and were not shown; while there is one, no decision is taken (I2)."""
    if row.state != "pending" or now() >= row.expires_at:
        return []
    new = shown.joined(document, service.readers_now(row.pk)) or set()
    return [sight.called(sight.name(asset)) for asset in assets_by_id(new).values()]


def cannot(row: Request, person: Person, chain: list[approvals.ChainRow], moment: datetime) -> str:
    """Why this person cannot decide now, in one sentence; empty when the form is theirs. The service decides again."""
    if row.state != "pending":
        return f"This request is {row.state}; there is nothing left to decide."
    if moment >= row.expires_at:
        return "This request has expired; nothing was approved."
    mine = next((link for link in chain if link.person.pk == person.pk), None)
    why = _not_mine(mine, chain, moment)
    if why:
        return why
    if any(vote.person_id == person.pk for vote in row.votes.all()):
        return "You have decided; the request waits for others."
    if approvals.stop().active and is_dispatch(row.plan):
        return "Frozen by the stop: nothing that dispatches is decided until it is lifted."
    return ""


def _not_mine(mine: approvals.ChainRow | None, chain: list[approvals.ChainRow], moment: datetime) -> str:
    """Why it is not this person's turn; empty when it is."""
    with_whom = " and ".join(display_name(link.person.principal) for link in chain if link.on_turn) or "nobody"
    if mine is None:
        return f"This request names other people; it is with {with_whom}."
    if mine.why_not:
        return f"Whoever {mine.why_not} does not decide on it; it is with {with_whom}."
    if mine.on_turn:
        return ""
    if mine.starts_at > moment:
        return f"Your turn begins at {mine.starts_at:%H:%M} UTC; until then the request is with {with_whom}."
    return f"Your turn is over; the request is with {with_whom}."
