"""Until when a decision is of use: the last useful minute while damage is pending, the policy's patience afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from approvals.models import Plan, Policy
from approvals.scope import incident_of
from incidents.models import Damage, Incident


@dataclass(frozen=True)
class Deadline:
    """When a request expires and why then; `damage_at` is the last useful minute of the next reader, if it is known."""

    expires_at: datetime
    reason: str
    damage_at: datetime | None


def deadline(plan: Plan, policy: Policy, moment: datetime) -> Deadline:
    """While damage is pending: the later of the policy's minimum and next read - lead - expected run time."""
    incident = incident_of(plan)
    pending = _pending(incident) if incident else []
    if not pending:
        after = moment + timedelta(seconds=policy.after_damage_seconds)
        return Deadline(after, "No damage is pending any more, so the policy's time after the damage counts.", None)
    minimum = moment + timedelta(seconds=policy.minimum_seconds)
    useful = _last_useful(incident, pending)
    if useful is None:
        return Deadline(minimum, "When the next reader reads is not known, so the policy's minimum counts.", None)
    at, reader = useful
    latest = at - timedelta(seconds=plan.expected_seconds)
    if latest >= minimum:
        return Deadline(latest, f"After this a repair ({plan.expected_seconds} s) would end too late for {reader}.", at)
    reason = (
        f"The last useful minute for {reader} was or is {latest:%Y-%m-%d %H:%M} UTC; "
        "the policy's minimum is later: too late to prevent the damage."
    )
    return Deadline(minimum, reason, at)


def _pending(incident: Incident) -> list[Damage]:
    return list(Damage.objects.filter(incident=incident, state="pending").select_related("consumer__consumer"))


def _last_useful(incident: Incident | None, pending: list[Damage]) -> tuple[datetime, str] | None:
    """The earliest (next read - lead) among the readers whose damage is pending, with that reader's name."""
    reach: dict[str, Any] = (incident.reach if incident else None) or {}
    by_id = {consumer["asset_id"]: consumer for consumer in reach.get("consumers", [])}
    found = [(at, damage.consumer.name) for damage in pending if (at := _useful(damage, by_id)) is not None]
    return min(found, default=None)


def _useful(damage: Damage, by_id: dict[int, Any]) -> datetime | None:
    frozen = by_id.get(damage.consumer_id, {})
    if frozen.get("last_useful_minute"):
        return datetime.fromisoformat(frozen["last_useful_minute"])
    if damage.expected_at is None:
        return None
    declared = getattr(damage.consumer, "consumer", None)
    return damage.expected_at - timedelta(seconds=declared.lead_seconds if declared else 60)
