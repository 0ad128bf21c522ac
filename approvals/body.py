"""The canonical form of a plan: what its digest covers, rebuilt from the rows whenever it is compared (I2)."""

from __future__ import annotations

from typing import Any

from approvals.models import Assertion, Plan, Step
from foundation.canonical import canonical_bytes, sha256_hex


def plan_body(plan: Plan) -> dict[str, Any]:
    """Typed steps and assertions of a plan as they stand in the database: strings, integers, lists, no floats."""
    return {
        "plan": str(plan.pk),
        "incident": str(plan.incident_id) if plan.incident_id else None,
        "undoes": str(plan.undoes_id) if plan.undoes_id else None,
        "revision": plan.revision,
        "steps": [_step(step) for step in plan.steps.order_by("position").select_related("person__principal")],
        "assertions": [_assertion(one) for one in plan.assertions.order_by("position").select_related("asset")],
    }


def plan_bytes(plan: Plan) -> bytes:
    """RFC 8785 bytes of `plan_body`."""
    return canonical_bytes(plan_body(plan))


def current_digest(plan: Plan) -> str:
    """SHA-256 (hex) of the plan as its rows say now; it must equal `plan.plan_digest`."""
    return sha256_hex(plan_bytes(plan))


def _step(step: Step) -> dict[str, Any]:
    return {
        "position": step.position,
        "kind": step.kind,
        "class": step.step_class,
        "actor": step.actor,
        "person": str(step.person.principal_id) if step.person else None,
        "title": step.title,
        "params": step.params,
        "undo": step.undo,
        "reversible": step.reversible,
    }


def _assertion(one: Assertion) -> dict[str, Any]:
    return {
        "position": one.position,
        "kind": one.kind,
        "asset": f"{one.asset.namespace}/{one.asset.name}",
        "params": one.params,
        "sentence": one.sentence,
    }
