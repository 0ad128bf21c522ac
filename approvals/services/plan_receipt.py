"""What a plan's receipt says: what was approved by whom, what ran, what was checked, how to undo it."""

from __future__ import annotations

from typing import Any

from approvals.models import Plan, Receipt, Request, Run, Verification
from approvals.services.receipts import descriptors
from foundation.canonical import sha256_hex, timestamp


def plan_predicate(plan: Plan, state: str, reason: str) -> dict[str, Any]:
    """The predicate of a plan that ended as `state`; people by UUID, counts as text, no free text of people."""
    return {
        "plan": str(plan.pk),
        "incident": str(plan.incident_id) if plan.incident_id else None,
        "undoes": str(plan.undoes_id) if plan.undoes_id else None,
        "revision": plan.revision,
        "plan_digest": plan.plan_digest,
        "author": str(plan.author_id),
        "state": state,
        "reason": reason,
        "rehearsal": (plan.rehearsal or {}).get("state", "not rehearsed"),
        "decisions": [_decision(request) for request in plan.requests.order_by("created_at")],
        "steps": [
            {"position": step.position, "class": step.step_class, "state": step.state, "undo": step.undo}
            for step in plan.steps.order_by("position")
        ],
        "receipts": descriptors(Receipt.objects.filter(type="step", subject__startswith=f"step/{plan.pk}/")),
        "runs": [_run(run) for run in Run.objects.filter(step__plan=plan).order_by("claimed_at")],
        "verification": [_verification(one) for one in _verifications(plan)],
    }


def _decision(request: Request) -> dict[str, Any]:
    return {
        "request": str(request.pk),
        "state": request.state,
        "shown_digest": request.shown_digest,
        "expires_at": timestamp(request.expires_at),
        "votes": [
            {
                "principal": str(vote.person.principal_id),
                "decision": vote.decision,
                "steps": vote.steps,
                "reason_sha256": vote.reason_sha256,
                "at": timestamp(vote.at),
            }
            for vote in request.votes.order_by("at").select_related("person")
        ],
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "run": str(run.pk),
        "commit": run.commit,
        "runner": run.runner,
        "state": run.state,
        "exit_code": run.exit_code,
        "build": run.build.key if run.build else None,
    }


def _verifications(plan: Plan) -> list[Verification]:
    rows = Verification.objects.filter(assertion__plan=plan).select_related("assertion__asset", "build")
    return list(rows.order_by("assertion__position", "measured_at"))


def _verification(one: Verification) -> dict[str, Any]:
    return {
        "assertion": one.assertion.sentence,
        "kind": one.assertion.kind,
        "asset": one.assertion.asset.name,
        "params": one.assertion.params,
        "passed": one.passed,
        "reason": one.reason,
        "observed": one.observed,
        "query_sha256": sha256_hex(one.query.encode()),
        "measured_at": timestamp(one.measured_at),
        "build": one.build.key,
    }
