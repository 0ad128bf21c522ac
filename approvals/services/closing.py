"""Closing an incident without a plan of ours: by somebody who answers for it, or because others repaired the table."""

from __future__ import annotations

from uuid import UUID

from approvals import actions
from approvals.models import Plan, Policy
from approvals.models.plans import CARRIED_OUT, WAITING_PLANS
from approvals.services import ask, ending, incident_receipt
from catalog.models import AssetRole
from foundation import people
from foundation.audit import Actor
from foundation.errors import BadInput, Conflict, NotAllowed
from foundation.locks import lock, transaction
from foundation.models import Person
from foundation.refusals import kept
from incidents.models import Incident
from incidents.services import damage

BY_PEOPLE = ("false_alarm", "accepted", "duplicate", "repaired_outside")
OUTSIDE = "the table is inside its baseline again, by a build that no plan of Spellbook made"


def close_by_hand(incident_id: UUID, resolution: str, reason: str, *, person: Person, actor: Actor) -> None:
    """Close an incident with a resolution and a reason that a person answers for; open plans are superseded.

    An approved plan that waits (for a merge that never came as approved, say) ends as failed; nothing else could end
    it. Raises NotAllowed for people who do not answer for the incident or its domain, Conflict when it is closed
    already, a run of an approved plan is in flight, or its verification is not over.
    """
    incident = Incident.objects.select_related("asset", "domain").get(pk=incident_id)
    facts = {"resolution": resolution.replace("_", " ")[:40]}
    with kept(actor, actions.CLOSE_REFUSED, incident, facts, correlation_id=incident.pk):
        if resolution not in BY_PEOPLE:
            raise BadInput("Choose how the incident ends.")
        if not reason.strip():
            raise BadInput("An incident is closed with a reason; none was given.")
        if not may_close(incident, person):
            raise NotAllowed("Only people who answer for this incident's table or domain close it.")
        if not _close(incident.pk, resolution, reason.strip(), actor, give_up=True):
            raise Conflict(f"{incident} is closed already.")


def may_close(incident: Incident, person: Person) -> bool:
    """Owner or on-call of the table or its domain, the domain's approver or fallback, or an admin."""
    if not person.is_active:
        return False
    if people.has_role(person, "admin"):
        return True
    if AssetRole.objects.filter(asset=incident.asset, person=person, role__in=("owner", "on_call")).exists():
        return True
    domain = incident.domain or incident.asset.domain
    policy = Policy.objects.filter(domain=domain).first() if domain else None
    named = [domain.owner_id, domain.on_call_id] if domain else []
    named += [policy.approver_id, policy.fallback_id] if policy else []
    return person.pk in named


def repaired_outside(incident_id: UUID, *, actor: Actor) -> bool:
    """Close an incident whose table is right again without us; False when a plan was approved meanwhile: it goes on."""
    damage.settle(incident_id, actor=actor)
    try:
        return _close(incident_id, "repaired_outside", OUTSIDE, actor)
    except Conflict:
        return False


def _close(incident_id: UUID, resolution: str, reason: str, actor: Actor, *, give_up: bool = False) -> bool:
    """End what waits for a decision and close the incident with its receipt, in one transaction."""
    with transaction():
        plans = Plan.objects.filter(incident=incident_id)
        for plan in plans.filter(state__in=WAITING_PLANS):
            ask.supersede(plan.pk, reason, actor=actor)
        if give_up:
            for plan in plans.filter(state="acting"):
                _give_up(plan, reason, actor)
        if plans.filter(state__in=CARRIED_OUT).exists():
            raise Conflict("An approved plan of this incident is still being carried out; it ends first.")
        return incident_receipt.close_with_receipt(incident_id, actor=actor, resolution=resolution, reason=reason)


def _give_up(plan: Plan, reason: str, actor: Actor) -> None:
    """End an approved plan of which nothing is in flight; its steps are locked, so that no dispatch comes between."""
    row = lock(Plan.objects.all(), pk=plan.pk)
    states = list(row.steps.select_for_update().order_by("position").values_list("state", flat=True))
    if "acting" not in states:
        ending.fail(row, f"the incident was closed by hand: {reason}", actor=actor)
