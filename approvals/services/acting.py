"""Doing what was approved: each look at a plan does at most one thing, in the order of its steps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from uuid import UUID

from approvals.models import Plan, Step
from approvals.services import dispatch, ending, merges, messages, runs, steps
from foundation.audit import Actor
from foundation.errors import SpellbookError, Unavailable

DO: dict[str, Callable[..., bool]] = {"change": merges.look, "message": messages.send, "rerun": dispatch.dispatch}
SETTLED = ("done", "not_approved", "abandoned")
NEVER_DONE = ("not_approved", "failed", "abandoned")


def advance(plan_id: UUID, *, actor: Actor) -> bool:
    """Do the next thing that an approved plan needs; True when something changed.

    An owner's step is looked for, a message is put out, a rerun is dispatched and followed. When every approved step
    has ended the plan goes to verification; when one has failed, and nothing is in flight, the plan ends as failed.
    Raises what the first step that cannot go on said, after the others had their chance.
    """
    plan = Plan.objects.get(pk=plan_id)
    if plan.state != "acting":
        return False
    found = list(plan.steps.order_by("position").select_related("person__principal", "plan__undoes"))
    flying = [step for step in found if step.state == "acting"]
    failed = [step for step in found if step.state == "failed"]
    if flying:
        return _first([partial(runs.follow, step, actor=actor) for step in flying])
    if failed:
        return ending.fail(plan, f"step {failed[0].position} failed", actor=actor)
    if all(step.state in SETTLED for step in found):
        return ending.to_verification(plan, actor=actor)
    return _first([partial(_one, step, found, actor) for step in found])


def _one(step: Step, found: list[Step], actor: Actor) -> bool:
    if step.state != "waiting":
        return False
    states = {one.position: one.state for one in found}
    needed = [int(position) for position in step.params.get("after", [])]
    never = next((position for position in needed if states.get(position) in NEVER_DONE), None)
    if never is not None:
        return steps.end(step, "abandoned", {"after": never}, f"it needs step {never}, which is not done", actor=actor)
    if any(states.get(position) != "done" for position in needed):
        return False
    if step.kind not in DO:
        raise Unavailable(f"Nothing here carries out a step of the kind {step.kind}.")
    return DO[step.kind](step, actor=actor)


def _first(things: list[Callable[[], bool]]) -> bool:
    """Try one after the other until one changes something; what cannot be done now does not hold up the rest."""
    trouble: SpellbookError | None = None
    for thing in things:
        try:
            if thing():
                return True
        except SpellbookError as error:
            trouble = trouble or error
    if trouble is not None:
        raise trouble
    return False
