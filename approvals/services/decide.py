"""The one decision function behind every face (I15): one guarded step, on the database's clock, or a typed refusal."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from secrets import token_bytes
from typing import Any
from uuid import UUID

from django.db import IntegrityError

from approvals import actions, ballot, chain, shown
from approvals.body import current_digest
from approvals.models import Outcome, Plan, Request, Step, Vote, VoteReason
from approvals.scope import incident_of, is_dispatch, timeline_of
from approvals.services.stop import stop_row_for_claim
from catalog.graph.reach import reach as draw_reach
from catalog.models import Asset
from foundation import audit
from foundation.audit import Actor
from foundation.canonical import sha256_hex
from foundation.clock import DatabaseNow, now
from foundation.errors import BadInput, Conflict, Gone, NotAllowed
from foundation.failpoint import hit
from foundation.locks import lock, transaction
from foundation.models import Person, Principal
from foundation.people import display_name
from foundation.refusals import kept
from incidents.services.wake import wake

DECISIONS = ("approve", "reject")
REJECTED = "rejected; the reason stands with the vote"  # words of people stay where they can be erased


@dataclass(frozen=True)
class Ballot:
    """What a person posts: the decision, the steps (None = all), why, and the two digests of the form they saw."""

    person: Person
    decision: str
    steps: Sequence[int] | None
    reason: str
    plan_digest: str
    shown_digest: str
    key: str


def decide(
    request_id: UUID,
    *,
    person: Person,
    decision: str,
    steps: Sequence[int] | None,
    reason: str,
    plan_digest: str,
    shown_digest: str,
    idempotency_key: str,
    actor: Actor,
    reach_now: Collection[int] | str | None = None,
) -> Outcome | Vote:
    """Record one person's decision; the Outcome when it ended the request, else the Vote that waits for others.

    `reach_now` is what reads the table now (asset ids of the readers, or the reach's digest); drawn here, before the
    transaction, when it is not given. A replay with the same key returns what the first call did. Refusals are typed
    and kept as refused audit rows: BadInput (no reason, unknown step), NotAllowed (not this person or turn), Conflict
    (decided, stale, superseded, stopped, new reader), Gone (too late); Busy means that nothing was recorded.
    """
    posted = Ballot(person, decision, steps, reason.strip(), plan_digest, shown_digest, idempotency_key)
    readers = readers_now(request_id) if reach_now is None else reach_now
    request = Request.objects.filter(pk=request_id).select_related("plan").first()
    about = timeline_of(request.plan) if request else None
    target = request or (Request._meta.label_lower, str(request_id))
    facts = {"decision": str(decision)[:20]}
    refusals = kept(actor, actions.DECISION_REFUSED, target, facts, correlation_id=about)
    with refusals, transaction():
        decided = _decide(request_id, posted, readers, actor)
        hit("decide.before_commit")
    hit("decide.after_commit")
    return decided


def readers_now(request_id: UUID) -> list[int]:
    """Asset ids of every reader of the table of the request's incident at this moment that somebody answers for."""
    request = Request.objects.filter(pk=request_id).select_related("plan").first()
    incident = incident_of(request.plan) if request else None
    if incident is None:
        return []
    return shown.binding(draw_reach(incident.asset, at=now()).as_dict()["consumers"])


def _decide(request_id: UUID, posted: Ballot, readers: Collection[int] | str, actor: Actor) -> Outcome | Vote:
    stop = stop_row_for_claim()  # the order of locks: stop, request, plan
    request = lock(Request.objects.select_related("plan__author"), pk=request_id)
    replayed = _replay(request, posted)
    if replayed is not None:
        return replayed
    plan = lock(Plan.objects.select_related("author"), pk=request.plan_id)
    request.plan = plan
    moment = now()  # after the locks: what waited for them must not count with the time before
    person = Person.objects.select_related("principal").get(pk=posted.person.pk)
    _require_open(request, moment)
    _require_person(request, person, actor, moment)
    if stop.active and is_dispatch(plan):  # guard: I10
        raise Conflict(
            "Frozen by the stop: nothing that dispatches is decided until it is lifted; nothing was recorded."
        )
    _require_unchanged(request, plan, posted, readers)
    approved = _steps(plan, posted)
    vote = _vote(request, person, posted, approved, moment)
    return _count(request, plan, vote, actor)


def _replay(request: Request, posted: Ballot) -> Outcome | Vote | None:
    """What an earlier call with this key did; Conflict when the key belongs to another decision."""
    if not posted.key or len(posted.key) > 100:
        raise BadInput("A decision needs an idempotency key of 1 to 100 characters.")
    vote = Vote.objects.filter(idempotency_key=posted.key).first()
    if vote is None:
        return None
    same = (vote.request_id, vote.person_id, vote.decision) == (request.pk, posted.person.pk, posted.decision)
    if not same:
        raise Conflict("This form was sent before with another decision; open the request again.")
    return Outcome.objects.filter(request=request).first() or vote


def _require_open(request: Request, moment: datetime) -> None:
    if request.state in ("approved", "rejected"):
        last = request.votes.select_related("person__principal").order_by("-at", "-pk").first()
        who = display_name(last.person.principal) if last else "somebody"
        raise Conflict(f"Already {request.state} by {who} at {_said(request.ended_at)}.")
    if request.state == "superseded":
        newer = Plan.objects.filter(incident=request.plan.incident, revision__gt=request.plan.revision)
        newest = newer.order_by("-revision").first()
        raise Conflict(
            f"Superseded by revision {newest.revision}." if newest else "Superseded; nothing is left to decide."
        )
    if request.state == "withdrawn":
        raise Conflict(f"Withdrawn at {_said(request.ended_at)}.")
    if request.state == "expired" or moment >= request.expires_at:  # guard: I5
        raise Gone(f"Expired at {_said(request.expires_at)}; nothing was approved.")


def _require_person(request: Request, person: Person, actor: Actor, moment: datetime) -> None:
    if actor.principal.kind != Principal.Kind.HUMAN or actor.principal.pk != person.principal_id:  # guard: I4
        raise NotAllowed("Only a signed-in person decides, and only in their own name.")
    why = chain.why_not(person, request.plan)
    if why:
        raise NotAllowed(f"Whoever {why} does not decide on it.")
    if not chain.named(request, person):  # guard: I3
        raise NotAllowed("This request is not yours: it names other people.")
    _require_turn(request, person, moment)


def _require_turn(request: Request, person: Person, moment: datetime) -> None:
    people = chain.people_of(request)
    turn = chain.on_turn(request, moment, people)
    if person.pk in {link["person"] for link in turn}:  # guard: I3
        return
    names = " and ".join(display_name(people[link["person"]].principal) for link in turn)
    mine = chain.named(request, person)[0]
    ended = min((link["starts_after_seconds"] for link in turn), default=0) > mine["starts_after_seconds"]
    if ended:
        at = min(chain.starts_at(request, link) for link in turn)
        raise Gone(f"Your turn expired at {_said(at)}; the request is now with {names}.")
    raise NotAllowed(
        f"It is not your turn before {_said(chain.starts_at(request, mine))}; the request is with {names}."
    )


def _require_unchanged(request: Request, plan: Plan, posted: Ballot, readers: Collection[int] | str) -> None:
    if plan.state != "asking":
        raise Conflict(f"The plan is {plan.state.replace('_', ' ')}; there is nothing to decide.")
    if request.plan_digest != posted.plan_digest or current_digest(plan) != posted.plan_digest:  # guard: I2
        raise Conflict("The plan is not the one that this form showed; open the request again.")
    if request.shown_digest != posted.shown_digest:  # guard: I2
        raise Conflict("This form showed something other than the request does; open the request again.")
    new = shown.joined(shown.read(request), readers)
    if new is None:  # guard: I2
        raise Conflict("The reach has changed since it was shown; the plan needs a fresh revision.")
    if new:  # guard: I2
        names = ", ".join(Asset.objects.filter(pk__in=new).values_list("name", flat=True)) or "an unknown reader"
        raise Conflict(f"A reader that was not shown has joined the reach: {names}; the plan needs a fresh revision.")


def _steps(plan: Plan, posted: Ballot) -> list[int]:
    if posted.decision not in DECISIONS:
        raise BadInput("A decision is either approve or reject.")
    if posted.decision == "reject":
        if not posted.reason:
            raise BadInput("A rejection needs a reason.")
        return []
    after = {step.position: [int(one) for one in step.params.get("after", [])] for step in plan.steps.all()}
    return ballot.chosen(after, posted.steps)


def _vote(request: Request, person: Person, posted: Ballot, approved: list[int], moment: datetime) -> Vote:
    earlier = request.votes.filter(person=person).first()
    if earlier is not None:  # guard: I1
        raise Conflict(f"You decided on this request at {_said(earlier.at)}; a vote is final.")
    salt = token_bytes(32)
    committed = sha256_hex(salt + posted.reason.encode()) if posted.reason else ""
    try:
        vote = Vote.objects.create(
            request=request, person=person, decision=posted.decision, steps=approved, reason_sha256=committed,
            plan_digest=posted.plan_digest, shown_digest=posted.shown_digest, idempotency_key=posted.key, at=moment,
        )  # fmt: skip
    except IntegrityError as error:
        if "has not expired" in str(error):  # the trigger's own look at the clock
            raise Gone(f"Expired at {_said(request.expires_at)}; nothing was approved.") from None
        raise Conflict("This decision was being recorded at the same moment; nothing was recorded twice.") from None
    if posted.reason:
        VoteReason.objects.create(vote=vote, salt=salt, text=posted.reason)
    return vote


def _count(request: Request, plan: Plan, vote: Vote, actor: Actor) -> Outcome | Vote:
    if vote.decision == "reject":
        return _end(request, plan, vote, [], actor)
    votes = list(request.votes.filter(decision="approve").values_list("steps", flat=True))
    common = ballot.together(votes)
    missing = request.required - len(votes)
    if missing > 0:
        _guarded(request, version=request.version + 1)
        _record(request, actions.VOTE_CAST, vote, vote.steps, actor, missing=missing)
        return vote
    return _end(request, plan, vote, common, actor)


def _end(request: Request, plan: Plan, vote: Vote, steps: list[int], actor: Actor) -> Outcome:
    """Outcome, request, plan and steps move together; the ending statement reads the clock once more."""
    approved = vote.decision == "approve"
    outcome = Outcome.objects.create(request=request, decision=vote.decision, steps=steps, at=vote.at)
    state = "approved" if approved else "rejected"
    _guarded(request, state=state, version=request.version + 1, ended_at=vote.at, due_at=None)
    changes: dict[str, Any] = (
        {"state": "acting", "due_at": vote.at}
        if approved
        else {
            "state": "rejected",
            "ended_at": vote.at,
            "end_reason": REJECTED,
            "due_at": None,
        }
    )
    moved = Plan.objects.filter(pk=plan.pk, state="asking", version=plan.version).update(
        version=plan.version + 1, **changes
    )
    if not moved:
        raise Conflict("The plan has moved on; nothing was recorded.")
    _move_steps(plan, steps, vote.at)
    _record(request, actions.PLAN_APPROVED if approved else actions.PLAN_REJECTED, vote, steps, actor)
    incident = timeline_of(plan)
    if incident is not None:
        wake(incident)
    return outcome


def _guarded(request: Request, **changes: Any) -> None:
    rows = Request.objects.filter(
        pk=request.pk, state="pending", version=request.version, expires_at__gt=DatabaseNow()  # guard: I5
    )  # fmt: skip
    if not rows.update(**changes):
        raise Gone(f"Expired at {_said(request.expires_at)}; nothing was approved.")


def _move_steps(plan: Plan, approved: list[int], moment: datetime) -> None:
    proposed = Step.objects.filter(plan=plan, state="proposed")
    proposed.filter(position__in=approved, actor="owner", kind="change").update(due_at=moment)
    proposed.filter(position__in=approved).update(state="waiting")
    proposed.exclude(position__in=approved).update(state="not_approved")


def _record(request: Request, action: str, vote: Vote, steps: list[int], actor: Actor, **more: int) -> None:
    facts: dict[str, str | int | None] = {
        "steps": ", ".join(map(str, steps)) or "none",
        "plan": request.plan.title,
        "reason": vote.reason or "no reason given",
        **more,
    }
    audit.record(actor, action, request, correlation_id=timeline_of(request.plan), facts=facts)


def _said(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC" if moment else "an unknown time"
