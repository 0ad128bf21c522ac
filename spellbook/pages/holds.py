"""The operator's answer to a hold."""

from __future__ import annotations

from django.http import HttpResponse

from incidents.services import holds
from spellbook.pages.frame import AuthenticatedRequest, actor_of, done, page
from spellbook.sight import Sight


@page("POST")
def answer(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Keep what the operator did: state (acknowledged, held, declined, released) and, in words, answer."""
    state, text = request.POST.get("state", ""), request.POST.get("answer", "").strip()
    hold = holds.answer(pk, state, text, person=request.user, actor=actor_of(request))
    said = f"Your answer is kept: {Sight(request.user).called(hold.consumer.name)} is {hold.state.replace('_', ' ')}."
    return done(request, f"/incidents/{hold.incident.number}", said)
