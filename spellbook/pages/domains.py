"""How far Spellbook may go in a domain: what each level allows, raised by two people, lowered by anybody (D13)."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse

from approvals import levels as records
from approvals import selectors as approvals
from approvals.models import LevelChange, Policy, Receipt, Step
from approvals.services import autonomy
from catalog.models import Domain
from foundation.errors import BadInput, NotFound
from spellbook.pages.frame import AuthenticatedRequest, actor_of, done, page, show

LEVELS = (
    (0, "L0", "connected", "Imports, keeps the catalogue and recorded values.", "Judges nothing, sends nothing."),
    (1, "L1", "observes", "Checks, opens incidents, names causes, tells people, asks for holds, drafts plans.",
     "Asks nobody to approve, runs nothing."),
    (2, "L2", "proposes", "Puts plans before the named approver; runs the approved steps that are its own.",
     "Runs nothing unsigned."),
    (3, "L3", "reversible", "Queues by itself the rerun of an approved fix, verifies it, records the undo.",
     "Merges nothing, touches no sync."),
    (4, "L4", "autonomous", "Runs a narrow class without a signature per incident.",
     "Merges nothing, touches no sync."),
)  # fmt: skip


@page("GET")
def domains(request: AuthenticatedRequest) -> HttpResponse:
    """Every domain with its general level."""
    rows = Domain.objects.select_related("owner__principal__name_row")
    return show(request, "pages/domains.html", {"rows": [(row, autonomy.effective_level(row, [])) for row in rows]})


@page("GET")
def domain(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """One domain: its levels, the record that a raise needs, who decides, and what was changed."""
    row = _domain(slug)
    policy = Policy.objects.select_related("approver__principal", "fallback__principal").filter(domain=row).first()
    subjects = {change.pk: f"level/{change.pk}" for change in LevelChange.objects.filter(domain=row)}
    receipts = dict(Receipt.objects.filter(type="level", subject__in=subjects.values()).values_list("subject", "pk"))
    context = {
        "domain": row,
        "policy": policy,
        "level": autonomy.effective_level(row, []),
        "levels": LEVELS,
        "rules": [_rule(row, one) for one in approvals.levels(row)],
        "may_raise": autonomy.may_raise(request.user, row),
        "classes": _classes(row),
        "changes": [
            (change, receipts.get(f"level/{change.pk}"))
            for change in approvals.level_history(row)[:30]
        ],
        "needs": {"clean": records.CLEAN, "days": records.SPAN.days, "rest": records.COOL_DOWN.days},
    }  # fmt: skip
    return show(request, "pages/domain.html", context)


@page("POST")
def propose(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Propose to raise one class (empty: every class without a rule of its own) by one level."""
    step_class, reason = _class(request), request.POST.get("reason", "")
    change = autonomy.propose_raise(
        _domain(slug), step_class, person=request.user, reason=reason, actor=actor_of(request)
    )
    said = f"Proposed: L{change.from_level} to L{change.to_level}. A second person has to agree."
    return done(request, f"/domains/{slug}", said)


@page("POST")
def second(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Second an open raise, as another person than the one who proposed it."""
    row, text = _domain(slug), request.POST.get("change", "")
    known = (
        LevelChange.objects.filter(pk=int(text), domain=row)
        if text.isascii() and text.isdigit() and len(text) < 19
        else None
    )
    if known is None or not known.exists():
        raise NotFound("There is no such raise in this domain.")
    change = autonomy.second_raise(int(text), person=request.user, actor=actor_of(request))
    return done(request, f"/domains/{slug}", f"Raised to L{change.to_level}.")


@page("POST")
def lower(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Lower one class at once."""
    level, reason = request.POST.get("level", ""), request.POST.get("reason", "")
    if level not in {"0", "1", "2", "3"}:
        raise BadInput("Choose the level to lower to.")
    step_class = _class(request)
    autonomy.lower(_domain(slug), step_class, int(level), person=request.user, reason=reason, actor=actor_of(request))
    return done(request, f"/domains/{slug}", f"Lowered to L{level}.")


def _domain(slug: str) -> Domain:
    row = Domain.objects.select_related("owner__principal", "on_call__principal").filter(key=slug).first()
    if row is None:
        raise NotFound("There is no such domain.")
    return row


def _class(request: AuthenticatedRequest) -> str:
    text = request.POST.get("step_class", "").strip()
    if len(text) > 60:
        raise BadInput("A class of steps has a name of at most 60 characters.")
    return text


def _classes(row: Domain) -> list[str]:
    """Classes of steps that plans in this domain had, for the list to choose from."""
    steps = Step.objects.filter(plan__incident__domain=row).values_list("step_class", flat=True)
    return sorted(set(steps) | {one.step_class for one in approvals.levels(row) if one.step_class})


def _rule(row: Domain, one: approvals.LevelRow) -> dict[str, Any]:
    record = records.record_of(row, one.step_class)
    return {"row": one, "record": record, "lower": [level for level in range(4) if level < one.level]}
