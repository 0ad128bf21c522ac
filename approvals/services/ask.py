"""Asking: a drafted plan is frozen with everything its approver is shown and put before a named person."""

from __future__ import annotations

from uuid import UUID

from django.db.models import F

from approvals import actions, chain, shown
from approvals.body import current_digest
from approvals.deadlines import Deadline, deadline
from approvals.models import Plan, Policy, Request
from approvals.models.plans import WAITING_PLANS
from approvals.scope import domain_of, timeline_of
from approvals.services import turns
from approvals.services.alarms import alarm
from approvals.services.autonomy import plan_level
from foundation import audit
from foundation.audit import Actor
from foundation.canonical import sha256_hex
from foundation.clock import now
from foundation.errors import Conflict, NotAllowed
from foundation.locks import lock, transaction
from foundation.people import display_name
from incidents.services.wake import wake

ASKS = 2  # the level from which a plan is put before a person (D13)


class Nobody(Conflict):
    """No request can be made, because nobody may decide on it; an alarm is open (I7)."""


def ask(plan_id: UUID, *, actor: Actor) -> Request:
    """Freeze what is shown, the chain and the deadline of a drafted plan and give the first person their turn.

    Asking again returns the open request. Raises Conflict when the plan is not a draft or its rows are not what its
    digest covers, NotAllowed below L2, and Nobody when no eligible approver is named (kept as an alarm).
    """
    try:
        with transaction():
            return _ask(lock(Plan.objects.all(), pk=plan_id), actor)
    except Nobody as error:
        plan = Plan.objects.get(pk=plan_id)
        facts = {"plan": plan.title, "reason": str(error)}
        alarm(actor, actions.NOBODY_ELIGIBLE, plan, facts, correlation_id=timeline_of(plan))
        raise


def _ask(plan: Plan, actor: Actor) -> Request:
    known = Request.objects.filter(plan=plan, state="pending").first()
    if known is not None:
        return known
    _require_ready(plan)
    policy = _policy(plan)
    moment = now()
    until = deadline(plan, policy, moment)
    links = chain.build(policy, plan, until.expires_at - moment)
    if len(links) < policy.required:  # guard: I7
        raise Nobody(_why_nobody(plan, policy))
    document = shown.build(plan, policy, links, until)
    request = Request.objects.create(
        plan=plan, domain=policy.domain, required=policy.required, chain=links, plan_digest=plan.plan_digest,
        shown=document, shown_digest=sha256_hex(document), deadline_reason=until.reason[:500], created_at=moment,
        expires_at=until.expires_at,
    )  # fmt: skip
    people = chain.people_of(request)
    _move_plan(plan)
    _record(request, until, actor)
    turns.begin(request, moment, people, actor=actor)
    request.due_at = min(filter(None, [chain.next_turn(request, moment, people), request.expires_at]))
    request.save(update_fields=["due_at"])
    return request


def _require_ready(plan: Plan) -> None:
    if plan.state not in ("draft", "would_do"):
        raise Conflict(f"This plan is {plan.state.replace('_', ' ')}; only a draft is put before a person.")
    if current_digest(plan) != plan.plan_digest:  # guard: I2
        raise Conflict("The steps of this plan are not those that its digest covers; it has to be drafted again.")
    if (plan.rehearsal or {}).get("state") == "contradicted":
        raise Conflict("The rehearsal contradicted this plan; it is not put before anybody.")
    level = plan_level(plan)
    if level < ASKS:
        raise NotAllowed(
            f"The domain is at L{level} for a step of this plan; below L2 a plan is shown and asks nobody."
        )


def _policy(plan: Plan) -> Policy:
    domain = domain_of(plan)
    if domain is None:
        raise Nobody("The table where the cause is fixed belongs to no domain, so no approver is named.")
    policy = Policy.objects.select_related(
        "domain", "approver__principal", "fallback__principal"
    ).filter(domain=domain).first()  # fmt: skip
    if policy is None:
        raise Nobody(f"The domain {domain} names no approver.")
    return policy


def _why_nobody(plan: Plan, policy: Policy) -> str:
    reasons = [
        f"{display_name(person.principal)} {why}"
        for person in (policy.approver, policy.fallback)
        if (why := chain.why_not(person, plan))
    ]
    return f"The domain {policy.domain} needs {policy.required} who may decide: {' and '.join(reasons)}."


def _move_plan(plan: Plan) -> None:
    """The plan waits for its request alone: nothing of it is due, and whoever holds it must not make it so."""
    moved = Plan.objects.filter(pk=plan.pk, state=plan.state, version=plan.version).update(
        state="asking", version=plan.version + 1, due_at=None, lease_until=None, lease_token=None
    )
    if not moved:
        raise Conflict("The plan has moved on; nothing was asked.")
    plan.state, plan.version = "asking", plan.version + 1


def _record(request: Request, until: Deadline, actor: Actor) -> None:
    first = chain.people_of(request)[request.chain[0]["person"]]
    facts = {
        "approver": display_name(first.principal),
        "plan": request.plan.title,
        "expires_at": f"{until.expires_at:%Y-%m-%d %H:%M:%S} UTC",
        "reason": until.reason,
    }
    audit.record(actor, actions.REQUEST_ASKED, request, correlation_id=timeline_of(request.plan), facts=facts)


def supersede(plan_id: UUID, reason: str, *, actor: Actor) -> bool:
    """End a plan that nobody has approved because something newer stands; its open request ends with it.

    False when the plan is not one that waits (draft, would-do or asking).
    """
    with transaction():
        request = Request.objects.filter(plan_id=plan_id, state="pending").first()
        if request is not None:  # request before plan: the order of every lock here
            lock(Request.objects.all(), pk=request.pk)
        plan = lock(Plan.objects.all(), pk=plan_id)
        moment = now()
        waiting = Plan.objects.filter(pk=plan.pk, version=plan.version, state__in=WAITING_PLANS)
        if not waiting.update(
            state="superseded", version=plan.version + 1, ended_at=moment, end_reason=reason[:500], due_at=None
        ):
            return False
        # also one that was asked while this waited for the plan's lock
        Request.objects.filter(plan=plan, state="pending").update(
            state="superseded", version=F("version") + 1, ended_at=moment, due_at=None
        )
        incident = timeline_of(plan)
        facts = {"plan": plan.title, "reason": reason}
        audit.record(actor, actions.REQUEST_SUPERSEDED, plan, correlation_id=incident, facts=facts)
        if incident is not None:
            wake(incident)
    return True
