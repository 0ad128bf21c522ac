"""What concerns this person: requests on them or copied to them, holds asked of them, steps and messages for them."""

from __future__ import annotations

from django.db.models import Q
from django.http import HttpResponse

from approvals import selectors as approvals
from approvals.models import Policy, Request, Step
from approvals.shown import COPIED
from catalog.models import AssetRole, Domain
from foundation.models import Person
from incidents.models import Hold
from spellbook.pages.frame import AuthenticatedRequest, page, show
from spellbook.pages.waiting import answerable
from spellbook.sight import Sight

MOST = 30


@page("GET")
def me(request: AuthenticatedRequest) -> HttpResponse:
    """The inbox of one person; what no channel delivers is kept here."""
    person = request.user
    steps = (
        Step.objects.filter(person=person).select_related("plan__incident").order_by("-plan__created_at", "position")
    )
    holds = Hold.objects.filter(operator=person).select_related("consumer", "incident")
    context = {
        "requests": approvals.open_requests_for(person),
        "answerable": answerable(Sight(person)),
        "copied": _copied(person),
        "holds": holds.order_by("-asked_at")[:MOST],
        "mine": steps.filter(actor="owner").exclude(state__in=("proposed", "not_approved"))[:MOST],
        "messages_kept": steps.filter(kind="message", state="done")[:MOST],
        "roles": person.asset_roles.select_related("asset__domain").order_by("role", "asset__name")[:100],
        "duties": _duties(person),
        "tokens": person.principal.tokens.filter(revoked_at__isnull=True).order_by("-created_at"),
    }
    return show(request, "pages/me.html", context)


def _copied(person: Person) -> list[Request]:
    """Requests whose plan reaches an asset that this person operates or answers for; they do not decide on it."""
    mine = set(AssetRole.objects.filter(person=person, role__in=COPIED).values_list("asset_id", flat=True))
    if not mine:
        return []
    rows = Request.objects.filter(plan__incident__damage__consumer__in=mine).distinct()
    return list(rows.select_related("plan", "domain").order_by("-created_at")[:MOST])


def _duties(person: Person) -> list[tuple[str, Domain]]:
    """What this person is named for in whole domains."""
    duties = []
    for domain in Domain.objects.filter(Q(owner=person) | Q(on_call=person)).order_by("name"):
        duties += [
            (role, domain)
            for role, who in (("owner", domain.owner_id), ("on call", domain.on_call_id))
            if who == person.pk
        ]
    policies = (
        Policy.objects.filter(Q(approver=person) | Q(fallback=person)).select_related("domain").order_by("domain__name")
    )
    for policy in policies:
        duties.append(("approver" if policy.approver_id == person.pk else "fallback approver", policy.domain))
    return duties
