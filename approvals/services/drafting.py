"""The rows of a plan while it is written: its steps, each with its undo, its assertions, and the frozen body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from approvals.body import plan_bytes
from approvals.fixes.base import Claimed
from approvals.models import Assertion, Plan, Step
from foundation.canonical import sha256_hex
from foundation.models import Person

RERUN_CLASS = "rerun:dbt"
MESSAGE_CLASS = "message"
RERUN_UNDO = "After the change is reverted, build the same tables again."
MESSAGE_UNDO = "A message cannot be taken back; a second one can correct it."


def add_change(plan: Plan, step_class: str, person: Person, title: str, params: Mapping[str, Any], undo: str) -> Step:
    """The owner's step: a change of code that they merge. `params` as `Step` documents them."""
    return Step.objects.create(
        plan=plan, position=_next(plan), kind="change", step_class=step_class, actor="owner", person=person,
        title=title[:300], params=dict(params), undo=undo[:500], reversible=True,
    )  # fmt: skip


def add_rerun(plan: Plan, connection: str, select: Sequence[str], after: Sequence[int]) -> Step:
    """Spellbook's step: dbt builds what `select` names, once the steps `after` are done."""
    return Step.objects.create(
        plan=plan, position=_next(plan), kind="rerun", step_class=RERUN_CLASS, actor="spellbook",
        title=f"Build {', '.join(select)} (the changed tables and everything downstream)"[:300],
        params={"connection": connection, "select": list(select), "after": list(after)}, undo=RERUN_UNDO,
        reversible=True,
    )  # fmt: skip


def add_message(plan: Plan, person: Person, title: str, text: str) -> Step:
    """A message to somebody who has to know."""
    return Step.objects.create(
        plan=plan, position=_next(plan), kind="message", step_class=MESSAGE_CLASS, actor="spellbook", person=person,
        title=title[:300], params={"to": str(person.principal_id), "text": text}, undo=MESSAGE_UNDO, reversible=False,
    )  # fmt: skip


def add_assertions(plan: Plan, claimed: Sequence[Claimed]) -> None:
    """What must be true in the warehouse after the plan, in the order given."""
    Assertion.objects.bulk_create(
        Assertion(
            plan=plan, position=position, kind=one.kind, asset=one.asset, params=dict(one.params),
            sentence=one.sentence[:500],
        )
        for position, one in enumerate(claimed, 1)
    )  # fmt: skip


def seal_body(plan: Plan) -> None:
    """Freeze the canonical form of a plan whose steps and assertions stand."""
    body = plan_bytes(plan)
    plan.body, plan.plan_digest = body, sha256_hex(body)
    plan.save(update_fields=["body", "plan_digest"])


def _next(plan: Plan) -> int:
    return plan.steps.count() + 1
