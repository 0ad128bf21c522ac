"""A repair that did not come from the plan: the plan gives way, the incident is closed with its receipt."""

from __future__ import annotations

from uuid import UUID

from approvals.models import Plan
from approvals.services import incident_receipt
from approvals.services.ask import supersede
from foundation.audit import Actor
from foundation.locks import transaction

WAITING = ("draft", "would_do", "asking")
APPROVED = ("acting", "verifying")
REASON = "the table is inside its baseline again, by a build that no plan of Spellbook made"


def repaired_outside(incident_id: UUID, *, actor: Actor) -> bool:
    """End what waits of an incident whose table is right again without us, and close it, in one transaction.

    False, and nothing is changed, when a plan was approved meanwhile: that one is carried out and verified.
    """
    with transaction():
        plans = Plan.objects.filter(incident=incident_id)
        for plan in plans.filter(state__in=WAITING):
            supersede(plan.pk, REASON, actor=actor)
        if plans.filter(state__in=APPROVED).exists():
            return False
        return incident_receipt.close_with_receipt(
            incident_id, actor=actor, resolution="repaired_outside", reason=REASON
        )
