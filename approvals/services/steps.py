"""Ending a step, or saying why it waits: state, receipt and audit row in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from approvals import actions
from approvals.models import Step
from approvals.scope import timeline_of
from approvals.services import receipts
from foundation import audit
from foundation.audit import Actor
from foundation.clock import now
from foundation.locks import lock, transaction

OPEN = ("waiting", "acting")
ENDS = {"done": actions.STEP_DONE, "failed": actions.STEP_FAILED, "abandoned": actions.STEP_ABANDONED}


def end(step: Step, state: str, facts: Mapping[str, str | int | None], said: str, *, actor: Actor) -> bool:
    """Move a waiting or acting step to "done", "failed" or "abandoned", and leave its receipt (I13).

    `facts` go into the receipt, so they name nobody; `said` is the sentence of the timeline. False when the step had
    ended before.
    """
    with transaction():
        row = lock(Step.objects.select_related("plan__undoes", "person"), pk=step.pk)
        if row.state not in OPEN:
            return False
        moment = now()
        receipts.write(
            "step", subject(row), _predicate(row, state, facts, actor),
            subjects=receipts.plan_subjects(row.plan), created_at=moment,
        )  # fmt: skip
        Step.objects.filter(pk=row.pk, state=row.state).update(
            state=state, facts={**row.facts, **facts}, ended_at=moment, due_at=None
        )
        told: dict[str, str | int | None] = {"position": row.position, "said": said}
        audit.record(actor, ENDS[state], row, correlation_id=timeline_of(row.plan), facts=told)
    return True


def waits(step: Step, reason: str, *, actor: Actor) -> bool:
    """Say on the timeline why a step waits, once per reason; always False: nothing was done."""
    with transaction():
        row = lock(Step.objects.select_related("plan__undoes"), pk=step.pk)
        if row.state == "waiting" and row.facts.get("waits") != reason:
            Step.objects.filter(pk=row.pk, state="waiting").update(facts={**row.facts, "waits": reason})
            told: dict[str, str | int | None] = {"position": row.position, "said": reason}
            audit.record(actor, actions.STEP_WAITS, row, correlation_id=timeline_of(row.plan), facts=told)
    return False


def subject(step: Step) -> str:
    """What the receipt of a step is filed under."""
    return f"step/{step.plan_id}/{step.position}"


def _predicate(row: Step, state: str, facts: Mapping[str, str | int | None], actor: Actor) -> dict[str, Any]:
    """The step as approved, how it ended, whose it was and who recorded its end; people by UUID."""
    return {
        "plan": str(row.plan_id),
        "plan_digest": row.plan.plan_digest,
        "position": row.position,
        "kind": row.kind,
        "class": row.step_class,
        "actor": row.actor,
        "person": str(row.person.principal_id) if row.person else None,
        "recorded_by": str(actor.principal.pk),
        "state": state,
        "facts": dict(facts),
        "undo": row.undo,
        "reversible": row.reversible,
    }
