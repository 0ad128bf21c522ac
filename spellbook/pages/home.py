"""Home: what waits for this person, what is open, the stop, and the age of the oldest unsealed receipt."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpResponse

from approvals import selectors as approvals
from approvals.models import Step
from incidents.models import Hold, Result, Value
from incidents.services.holds import WAITING
from spellbook.pages.frame import AuthenticatedRequest, page, show
from spellbook.pages.waiting import answerable
from spellbook.sight import Sight

SEAL_LIMIT = timedelta(minutes=5)


@page("GET")
def home(request: AuthenticatedRequest) -> HttpResponse:
    """The first page after signing in."""
    person, stop, sight = request.user, approvals.stop(), Sight(request.user)
    unsealed = approvals.oldest_unsealed_age()
    holds = Hold.objects.filter(operator=person, state__in=WAITING).exclude(incident__state="closed")
    context = {
        "requests": approvals.open_requests_for(person),
        "holds": holds.select_related("consumer", "incident").order_by("needed_by"),
        "steps": Step.objects.filter(person=person, actor="owner", state="waiting", plan__state="acting"),
        "answerable": answerable(sight),
        "incidents": sight.incidents().exclude(state="closed").order_by("-opened_at")[:50],
        "unsealed_seconds": None if unsealed is None else max(0, int(unsealed.total_seconds())),
        "unsealed_late": unsealed is not None and unsealed > SEAL_LIMIT,
        "in_flight": list(approvals.runs_in_flight()) if stop.active else [],
        "may_lift": person.is_admin,
        "last_check": Result.objects.order_by("-at").values_list("at", flat=True).first()
        or Value.objects.order_by("-recorded_at").values_list("recorded_at", flat=True).first(),
    }
    return show(request, "pages/home.html", context)
