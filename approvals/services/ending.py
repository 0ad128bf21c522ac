"""How a plan ends: to verification, verified, failed; each end leaves the plan's receipt first (I13)."""

from __future__ import annotations

from approvals import actions
from approvals.models import Plan
from approvals.models.plans import CARRIED_OUT
from approvals.scope import timeline_of
from approvals.services import receipts, steps
from approvals.services.autonomy import after_failure
from approvals.services.plan_receipt import plan_predicate
from foundation import audit
from foundation.audit import Actor
from foundation.clock import now
from foundation.locks import lock, transaction
from incidents.services.wake import wake


def to_verification(plan: Plan, *, actor: Actor) -> bool:
    """Every approved step has ended; what they did is looked at next."""
    with transaction():
        row = lock(Plan.objects.select_related("undoes"), pk=plan.pk)
        moved = Plan.objects.filter(pk=row.pk, state="acting", version=row.version).update(
            state="verifying", version=row.version + 1, due_at=now()
        )
        if moved:
            audit.record(actor, actions.PLAN_VERIFYING, row, correlation_id=timeline_of(row))
    return bool(moved)


def fail(plan: Plan, reason: str, *, actor: Actor) -> bool:
    """A step or an assertion failed; the plan ends and a person has to look."""
    return end(plan, "failed", reason, actor=actor)


def end(plan: Plan, state: str, reason: str, *, actor: Actor) -> bool:
    """End an approved plan as "verified" or "failed" with its receipt; False when it has ended before.

    Steps that still wait are abandoned. A failed verification, and an undo that was carried out, take the classes of
    the plan concerned down to L2 (D13). The lease goes too, so that whoever holds the plan does not make it due again.
    """
    with transaction():
        row = lock(Plan.objects.select_related("undoes", "author"), pk=plan.pk)
        if row.state not in CARRIED_OUT:
            return False
        for step in row.steps.filter(state__in=steps.OPEN):
            steps.end(step, "abandoned", {}, "the plan ended before it", actor=actor)
        moment = now()
        receipts.write(
            "plan", f"plan/{row.pk}", plan_predicate(row, state, reason),
            subjects=receipts.plan_subjects(row), created_at=moment,
        )  # fmt: skip
        Plan.objects.filter(pk=row.pk, state=row.state, version=row.version).update(
            state=state, version=row.version + 1, ended_at=moment, end_reason=reason[:500],
            due_at=None, lease_until=None, lease_token=None,
        )  # fmt: skip
        action = actions.PLAN_VERIFIED if state == "verified" else actions.PLAN_FAILED
        incident = timeline_of(row)
        audit.record(actor, action, row, correlation_id=incident, facts={"reason": reason})
        _lower(row, state, actor)
        if incident is not None:
            wake(incident)
    return True


def _lower(row: Plan, state: str, actor: Actor) -> None:
    if state == "failed" and row.state == "verifying":
        after_failure(row, actor=actor)
    if state == "verified" and row.undoes is not None:
        after_failure(row.undoes, actor=actor)
