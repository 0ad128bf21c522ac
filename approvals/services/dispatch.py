"""Dispatching a rerun: everything that could forbid it is looked at, then one claim under the stop's lock."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError

from approvals import actions, shown
from approvals.body import current_digest
from approvals.models import Outcome, Run, Step
from approvals.scope import domains_touched, incident_of, timeline_of
from approvals.services import merges, runs, steps
from approvals.services.autonomy import DEFAULT, effective_level
from approvals.services.stop import stop_row_for_claim
from catalog.code_hosts import local_git
from catalog.graph.reach import reach
from catalog.models import Domain
from foundation import audit, connections
from foundation.audit import Actor
from foundation.clock import now
from foundation.errors import Conflict
from foundation.failpoint import hit
from foundation.locks import lock, transaction

PROPOSE = 2
RUNNER = "dbt"


def dispatch(step: Step, *, actor: Actor) -> bool:
    """Spend an approved rerun: claim, commit, then start; a crash between the two is taken up by `runs.follow`.

    The step waits, and says why once, under the stop, below L2, or when somebody who was not shown reads before the run
    would end. Raises Conflict when the step was not approved, was spent before, the plan is not the one that was
    approved, or the merged commit is not the approved change (I1, I2, I9, I10).
    """
    outcome = _outcome(step)
    commit, joined = _commit(step), _new_readers(step, outcome)  # git and the graph are read outside of the transaction
    with transaction():
        stop = stop_row_for_claim()
        row = lock(Step.objects.select_related("plan__undoes", "plan__incident"), pk=step.pk)
        if row.state != "waiting":
            return False
        _require_approved(row, outcome)
        reason = "the stop is set" if stop.active else _too_low(row) or joined  # guard: I10
        if reason:
            return steps.waits(row, reason, actor=actor)
        run = _claim(row, outcome, commit)
        facts: dict[str, str | int | None] = {"position": row.position, "commit": commit[:10]}
        audit.record(actor, actions.RUN_CLAIMED, run, correlation_id=timeline_of(row.plan), facts=facts)
    hit("dispatch.after_claim")
    return runs.start(run, actor=actor)


def _claim(row: Step, outcome: Outcome, commit: str) -> Run:
    try:
        with transaction():
            run = Run.objects.create(
                outcome=outcome, step=row, idempotency_key=f"{outcome.pk}:{row.position}", runner=RUNNER, commit=commit,
                claimed_at=now(),
            )  # fmt: skip
    except IntegrityError:  # guard: I1
        raise Conflict(f"Step {row.position} was spent before; nothing was dispatched.") from None
    Step.objects.filter(pk=row.pk, state="waiting").update(state="acting")
    return run


def _outcome(step: Step) -> Outcome:
    approvals = Outcome.objects.filter(request__plan=step.plan, decision="approve")
    outcome = approvals.select_related("request__domain").first()
    if outcome is None or step.position not in outcome.steps:  # guard: I9
        raise Conflict(f"Step {step.position} was not approved.")
    return outcome


def _require_approved(row: Step, outcome: Outcome) -> None:
    if current_digest(row.plan) != outcome.request.plan_digest:  # guard: I2
        raise Conflict("The plan is not the one that was approved; nothing was dispatched.")


def _too_low(row: Step) -> str:
    """Why the level forbids the dispatch; the domains stay locked, so that no level falls before the claim stands."""
    touched = sorted(domains_touched(row.plan), key=lambda domain: domain.pk)
    held = [lock(Domain.objects.all(), pk=domain.pk) for domain in touched]
    level = min((effective_level(domain, [row.step_class]) for domain in held), default=DEFAULT)
    return "" if level >= PROPOSE else f"the level is L{level} now; below L2 nothing is dispatched"  # guard: I9


def _new_readers(step: Step, outcome: Outcome) -> str:
    """Who was not shown to the approver and reads before the run would end; a reader of unknown time counts (D7)."""
    incident = incident_of(step.plan)
    if incident is None:
        return ""
    moment = now()
    until = moment + timedelta(seconds=step.plan.expected_seconds)
    consumers = reach(incident.asset, at=moment).as_dict()["consumers"]
    new = shown.joined(shown.read(outcome.request), shown.binding(consumers)) or set()
    early = [one["name"] for one in consumers if one["asset_id"] in new and _reads_before(one, until)]
    return f"new readers that nobody was shown read before the run would end: {', '.join(early)}" if early else ""


def _reads_before(consumer: Mapping[str, Any], until: datetime) -> bool:
    return consumer["next_read"] is None or datetime.fromisoformat(consumer["next_read"]) <= until


def _commit(step: Step) -> str:
    """The checked commit of the change that this rerun builds; without a change, the branch as it is now."""
    needed = [int(position) for position in step.params.get("after", [])]
    change = step.plan.steps.filter(kind="change", position__in=needed, state="done").order_by("position").last()
    if change is not None:
        commit = str(change.facts["commit"])
        if merges.read(change).commit != commit:  # guard: I2
            raise Conflict(f"{commit[:10]} is not, or is no longer, the approved change; nothing was dispatched.")
        return commit
    run = connections.get(str(step.params["connection"]))
    code = connections.get(str(run.params["repository"]))
    return local_git.head(str(code.params["path"]), str(code.params["branch"]))
