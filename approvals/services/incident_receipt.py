"""The receipt of a whole incident, sealed at its closing: what was found and done, and the other receipts."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from approvals.ledger.statement import Descriptor, resource
from approvals.models import LevelChange, Plan, Receipt, Request
from approvals.scope import step_classes
from approvals.services import receipts
from approvals.shown import evidence_digest
from foundation.audit import Actor
from foundation.canonical import digest, timestamp
from foundation.clock import now
from foundation.locks import lock, transaction
from incidents.models import Confirmation, Damage, Evidence, Finding, Hold, Incident
from incidents.services import progress

MEASURED = ("commit", "change", "predicate", "relation", "keys", "proof", "good", "since_build")
"""What of a cause's facts stands in its receipt: names and counts, never the free text of a commit (D15)."""

REPAIRED = "every reader shows the source value again"


def close_with_receipt(
    incident_id: UUID, *, actor: Actor, resolution: str = "repaired", reason: str = REPAIRED
) -> bool:
    """Write an incident's receipt and close it, in one transaction; False when it was closed before (I13)."""
    with transaction():
        incident = lock(Incident.objects.select_related("asset"), pk=incident_id)
        if incident.state == "closed":
            return False
        seal_incident(incident_id, resolution, actor=actor)
        return progress.close(incident_id, resolution, reason=reason, actor=actor)


def seal_incident(incident_id: UUID, resolution: str, *, actor: Actor) -> Receipt:
    """Write the receipt of an incident that ends as `resolution`, inside the caller's transaction.

    People stand in it by UUID, rows counted are text, free text is in the audit rows alone.
    """
    incident = Incident.objects.select_related("asset", "first_bad_build", "last_good_build").get(pk=incident_id)
    known = Receipt.objects.filter(type="incident", subject=subject(incident)).first()
    if known is not None:
        return known
    moment = now()
    return receipts.write(
        "incident", subject(incident), predicate(incident, resolution, actor, moment),
        [_subject(incident)], created_at=moment,
    )  # fmt: skip


def subject(incident: Incident) -> str:
    """What the receipt of an incident is filed under."""
    return f"incident/{incident.pk}"


def predicate(incident: Incident, resolution: str, actor: Actor, moment: datetime) -> dict[str, Any]:
    """Cause, evidence, plans, damage, holds and confirmations of an incident; `receipts` lists those it rests on."""
    plans = list(incident.plans.select_related("author").order_by("revision"))
    return {
        "incident": str(incident.pk),
        "number": incident.number,
        "asset": f"{incident.asset.namespace}/{incident.asset.name}",
        "severity": incident.severity,
        "resolution": resolution,
        "closed_by": str(actor.principal.pk),
        "opened_at": timestamp(incident.opened_at),
        "closed_at": timestamp(moment),
        "first_bad_build": incident.first_bad_build.key if incident.first_bad_build else None,
        "last_good_build": incident.last_good_build.key if incident.last_good_build else None,
        "reach_digest": incident.reach_digest or None,
        "findings": [_finding(one) for one in incident.findings.select_related("asset", "build", "baseline__value")],
        "cause": _cause(incident),
        "proofs": [_proof(row) for row in Evidence.objects.filter(incident=incident).order_by("pk")],
        "plans": [_plan(plan) for plan in plans],
        "damage": [_damage(one) for one in Damage.objects.filter(incident=incident).select_related("consumer")],
        "holds": [_hold(one) for one in Hold.objects.filter(incident=incident).select_related("consumer", "operator")],
        "confirmations": [_confirmation(one) for one in incident.confirmations.select_related("consumer")],
        "receipts": receipts.descriptors(_receipts(plans)),
    }


def _subject(incident: Incident) -> Descriptor:
    identity = {"incident": str(incident.pk), "number": incident.number, "opened_at": timestamp(incident.opened_at)}
    return resource(f"incident/{incident.pk}", digest(identity))


def _receipts(plans: list[Plan]) -> list[Receipt]:
    """The receipts of the incident's plans, their steps, and the levels under which they were asked; oldest first."""
    wanted = {f"plan/{plan.pk}" for plan in plans}
    wanted |= {f"step/{plan.pk}/{step.position}" for plan in plans for step in plan.steps.all()}
    wanted |= {f"level/{pk}" for plan in plans for request in plan.requests.all() for pk in _levels(request)}
    found = Receipt.objects.filter(type__in=["level", "plan", "step"], subject__in=wanted)
    return list(found.order_by("created_at", "subject"))


def _levels(request: Request) -> set[int]:
    """The changes that had set the level of the request's domain and classes when it was asked."""
    classes = ["", *step_classes(request.plan)]
    changes = LevelChange.objects.filter(
        domain=request.domain, step_class__in=classes, state="done", ended_at__lte=request.created_at
    )
    return set({change.step_class: change.pk for change in changes.order_by("ended_at", "pk")}.values())


def _finding(one: Finding) -> dict[str, Any]:
    value = one.baseline.value if one.baseline else None
    return {
        "asset": one.asset.name,
        "build": one.build.key if one.build else None,
        "number": str(value.number) if value else None,
        "at": timestamp(one.at),
    }


def _cause(incident: Incident) -> dict[str, Any] | None:
    cause = getattr(incident, "cause", None)
    if cause is None:
        return None
    return {
        "established": cause.established,
        "kind": cause.kind or None,
        "asset": cause.asset.name if cause.asset else None,
        **{name: cause.facts.get(name) for name in MEASURED},
        "facts_sha256": digest(cause.facts),
    }


def _proof(row: Evidence) -> dict[str, Any]:
    return {"kind": row.kind, "speaks": row.speaks, "sha256": evidence_digest(row)}


def _plan(plan: Plan) -> dict[str, Any]:
    return {
        "plan": str(plan.pk),
        "revision": plan.revision,
        "state": plan.state,
        "plan_digest": plan.plan_digest,
        "author": str(plan.author_id),
        "undo_of": str(plan.undoes_id) if plan.undoes_id else None,
        "decisions": [
            {"principal": str(vote.person.principal_id), "decision": vote.decision, "at": timestamp(vote.at)}
            for request in plan.requests.order_by("created_at")
            for vote in request.votes.select_related("person").order_by("at")
        ],
    }


def _damage(one: Damage) -> dict[str, Any]:
    return {
        "reader": one.consumer.name,
        "state": one.state,
        "rows_removed": _text(one.rows_removed),
        "rows_inserted": _text(one.rows_inserted),
        "done_at": _when(one.done_at),
        "repaired_at": _when(one.repaired_at),
    }


def _hold(one: Hold) -> dict[str, Any]:
    return {
        "reader": one.consumer.name,
        "state": one.state,
        "operator": str(one.operator.principal_id) if one.operator else None,
        "asked_at": timestamp(one.asked_at),
        "needed_by": _when(one.needed_by),
        "answered_at": _when(one.answered_at),
    }


def _confirmation(one: Confirmation) -> dict[str, Any]:
    return {
        "reader": one.consumer.name,
        "metric": one.metric,
        "source_value": _text(one.source_value),
        "reader_value": _text(one.reader_value),
        "equal": one.equal,
        "at": timestamp(one.at),
    }


def _text(number: object) -> str | None:
    return None if number is None else str(number)


def _when(moment: datetime | None) -> str | None:
    return timestamp(moment) if moment else None
