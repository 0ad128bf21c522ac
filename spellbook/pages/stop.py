"""The stop: set by any signed-in person with a reason, lifted by an admin (D14)."""

from __future__ import annotations

from django.http import HttpResponse

from approvals.services import stop as service
from spellbook.pages.frame import AuthenticatedRequest, actor_of, done, page


@page("POST")
def set_stop(request: AuthenticatedRequest) -> HttpResponse:
    """Stop every dispatch."""
    service.set_stop(request.POST.get("reason", ""), person=request.user, actor=actor_of(request))
    return done(request, "/", "Stopped: nothing is dispatched until somebody with the role admin lifts it.")


@page("POST")
def lift_stop(request: AuthenticatedRequest) -> HttpResponse:
    """Let dispatches go on."""
    service.lift_stop(person=request.user, actor=actor_of(request))
    return done(request, "/", "The stop is lifted.")
