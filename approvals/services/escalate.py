"""The sweep of due requests: next turn, the alarm that nobody may decide, expiry. It never approves (I4)."""

from __future__ import annotations

from datetime import datetime, timedelta

from approvals import actions, chain
from approvals.models import Plan, Request
from approvals.scope import is_dispatch, timeline_of
from approvals.services import turns
from approvals.services.alarms import alarm
from approvals.services.notices import tell
from approvals.services.stop import stop_row_for_claim
from foundation import audit, due
from foundation.audit import Actor
from foundation.clock import now
from foundation.locks import lock, transaction
from foundation.models import Person
from foundation.people import display_name, system
from incidents.services.wake import wake

LEASE = timedelta(seconds=30)


def sweep(limit: int = 50) -> int:
    """Look at up to `limit` due requests, each in one short transaction; returns how many changed.

    A request that a stop has frozen gets neither turns nor an end; lifting the stop makes it due again.
    """
    actor = Actor(system("escalation"), "timer")
    rows = due.claim(Request.objects.filter(state="pending"), limit=limit, lease=LEASE)
    return due.each(rows, lambda row: _one(row, actor))


def _one(claimed: Request, actor: Actor) -> bool:
    with transaction():
        stop = stop_row_for_claim()
        request = lock(Request.objects.select_related("plan__author"), pk=claimed.pk)
        if request.state != "pending" or request.lease_token != claimed.lease_token:
            return False
        moment = now()
        people = chain.people_of(request)
        frozen = stop.active and is_dispatch(request.plan)
        if not frozen and moment >= request.expires_at:
            return _expire(request, moment, actor)
        alarmed = _alarm(request, moment, people, actor)
        if frozen:
            due.finish(request, due_at=None)
            return alarmed
        begun = turns.begin(request, moment, people, actor=actor)
        following = [request.expires_at, chain.next_turn(request, moment, people)]
        due.finish(request, due_at=min(filter(None, following)))
    return bool(begun) or alarmed


def _alarm(request: Request, moment: datetime, people: dict[int, Person], actor: Actor) -> bool:
    """Open the alarm when fewer people than needed may decide (I7)."""
    if len(chain.eligible(request, people)) >= request.required:
        return False
    reasons = [
        f"{display_name(people[link['person']].principal)} {why}"
        for link in request.chain
        if (why := chain.why_not(people[link["person"]], request.plan))
    ]
    facts = {"plan": request.plan.title, "reason": " and ".join(reasons) or "too few are named"}
    opened = alarm(actor, actions.NOBODY_ELIGIBLE, request, facts, correlation_id=timeline_of(request.plan))
    if opened:
        tell(request, f"nobody:{moment.isoformat()}", {"alarm": facts["reason"]})
    return opened


def _expire(request: Request, moment: datetime, actor: Actor) -> bool:
    """End the request and its plan unapproved; an expiry is told like a turn, so a chain never ends in silence."""
    plan = lock(Plan.objects.all(), pk=request.plan_id)
    ended = Request.objects.filter(pk=request.pk, state="pending", version=request.version).update(
        state="expired", version=request.version + 1, ended_at=moment, due_at=None, lease_until=None, lease_token=None
    )
    if not ended:
        return False
    Plan.objects.filter(pk=plan.pk, state="asking", version=plan.version).update(
        state="expired", version=plan.version + 1, ended_at=moment, end_reason="nobody decided in time", due_at=None
    )
    where = tell(request, "expired", {"expired_at": request.expires_at.isoformat()})
    facts = {"plan": plan.title, "expires_at": f"{request.expires_at:%Y-%m-%d %H:%M:%S} UTC", "where": where}
    audit.record(actor, actions.REQUEST_EXPIRED, request, correlation_id=timeline_of(request.plan), facts=facts)
    incident = timeline_of(request.plan)
    if incident is not None:
        wake(incident)
    return True
