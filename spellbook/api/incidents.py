"""Reading an incident: its state, cause, plan, request and receipts in one answer."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router

from approvals.models import Plan, Receipt, Request, Run
from approvals.selectors import plan_for
from foundation.canonical import timestamp
from foundation.errors import BadInput, NotFound
from incidents.models import Incident
from incidents.models.incidents import STATES
from spellbook.api.auth import Scope

router = Router()
MOST = 100


@router.get("/incidents", auth=Scope("incident:read"))
def list_incidents(request: HttpRequest, state: str = "") -> dict[str, Any]:
    """The newest hundred incidents, all or those of one state."""
    if state and state not in STATES:
        raise BadInput(f"The state of an incident is one of {', '.join(STATES)}, not {state[:40]!r}.")
    rows = Incident.objects.select_related("asset").order_by("-number")
    found = rows.filter(state=state) if state else rows
    return {"total": found.count(), "incidents": [_head(row) for row in found[:MOST]]}


@router.get("/incidents/{number}", auth=Scope("incident:read"))
def read_incident(request: HttpRequest, number: int) -> dict[str, Any]:
    """One incident with what is known of its cause, damage, plan and receipts."""
    row = Incident.objects.select_related("asset").filter(number=number).first()
    if row is None:
        raise NotFound(f"There is no incident {number}.")
    cause = getattr(row, "cause", None)
    plan = plan_for(row)
    draft = getattr(row, "draft", None)
    return _head(row) | {
        "reached": row.reached_at is not None,
        "told": row.told_at is not None,
        "next_read": (row.reach or {}).get("next_read"),
        "diagnosed": row.diagnosed_at is not None,
        "cause": {"established": cause.established, "statement": cause.statement} if cause else None,
        "damage": [
            {
                "reader": one.consumer.name,
                "state": one.state,
                "rows_removed": one.rows_removed,
                "rows_inserted": one.rows_inserted,
            }
            for one in row.damage.select_related("consumer")
        ],
        "holds": [{"reader": hold.consumer.name, "state": hold.state} for hold in row.holds.select_related("consumer")],
        "no_plan": draft.reason if draft else "",
        "plan": _plan(plan) if plan else None,
        "confirmations": [
            {"reader": one.consumer.name, "metric": one.metric, "equal": one.equal}
            for one in row.confirmations.select_related("consumer")
        ],
        "receipts": _receipts(row, plan),
    }


def _head(row: Incident) -> dict[str, Any]:
    return {
        "number": row.number,
        "id": str(row.pk),
        "asset": row.asset.name,
        "state": row.state,
        "severity": row.severity,
        "resolution": row.resolution,
        "opened_at": timestamp(row.opened_at),
    }


def _plan(plan: Plan) -> dict[str, Any]:
    request = Request.objects.filter(plan=plan).order_by("-created_at").first()
    run = Run.objects.filter(step__plan=plan).order_by("-claimed_at").first()
    return {
        "id": str(plan.pk),
        "state": plan.state,
        "end_reason": plan.end_reason,
        "rehearsal": (plan.rehearsal or {}).get("state"),
        "request": {"id": str(request.pk), "state": request.state, "expires_at": timestamp(request.expires_at)}
        if request
        else None,
        "steps": [{"position": step.position, "kind": step.kind, "state": step.state} for step in plan.steps.all()],
        "run": {"id": str(run.pk), "state": run.state, "exit_code": run.exit_code} if run else None,
    }


def _receipts(row: Incident, plan: Plan | None) -> list[dict[str, Any]]:
    subjects = [f"incident/{row.pk}"] + ([f"plan/{plan.pk}"] if plan else [])
    return [
        {"id": str(one.pk), "type": one.type, "sealed": one.sealed_at is not None}
        for one in Receipt.objects.filter(subject__in=subjects).order_by("created_at")
    ]
