"""The steps of an incident's life on this floor; each does one thing once and can be repeated after a crash."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from catalog.graph.reach import reach as draw_reach
from foundation import audit, outbox
from foundation.audit import Actor
from foundation.canonical import digest
from foundation.clock import now
from foundation.errors import BadInput, Conflict
from foundation.locks import lock, transaction
from foundation.models import Person
from foundation.refusals import kept
from incidents import actions
from incidents.alerts import channels, where
from incidents.models import Damage, Incident
from incidents.models.incidents import RESOLUTIONS
from incidents.services import damage, holds
from incidents.severity import severity_of


def see_reach(incident_id: UUID, *, actor: Actor) -> bool:
    """Freeze the blast radius of an incident, open the damage of each reader, and set the severity from both.

    Readers that only look at another reader's copy (`through`) have no damage of their own, nor have those that
    neither copy nor are known to read at some time. People stand in the frozen reach by their number alone.
    """
    incident = Incident.objects.select_related("asset").get(pk=incident_id)
    if incident.reached_at is not None:
        return False
    moment = now()
    reach = _nameless(draw_reach(incident.asset, at=moment).as_dict())
    severity, reason = severity_of(reach, moment)
    with transaction():
        row = lock(Incident.objects.all(), pk=incident_id)
        if row.asset_id != incident.asset_id:  # it moved up to another table meanwhile: the next look draws anew
            return True
        changed = _live(row).filter(reached_at__isnull=True).update(
            reached_at=now(), reach=reach, reach_digest=digest(reach), severity=severity, severity_reason=reason
        )  # fmt: skip
        if not changed:
            return False
        Damage.objects.bulk_create(
            Damage(incident=row, consumer_id=consumer["asset_id"], expected_at=_time(consumer["next_read"]))
            for consumer in reach["consumers"]
            if consumer["through"] is None and (consumer["mode"] or consumer["next_read"])
        )
        facts = {
            "total": reach["total"],
            "consumers": len(reach["consumers"]),
            "next_read": f"{first:%Y-%m-%d %H:%M} UTC" if (first := _time(reach["next_read"])) else "not known",
            "severity": severity,
            "reason": reason,
        }
        audit.record(actor, actions.INCIDENT_REACHED, row, correlation_id=row.pk, facts=facts)
    return True


def tell(incident_id: UUID, *, actor: Actor) -> bool:
    """Put the alert into the outbox of every configured channel, and ask the operators of the syncs to hold them.

    Before it, the runs that were announced while the reach was being drawn are applied to the damage.
    """
    damage.settle(incident_id, actor=actor)
    with transaction():
        row = lock(Incident.objects.all(), pk=incident_id)
        if row.reach is None or not _live(row).filter(told_at__isnull=True).update(told_at=now()):
            return False
        for channel in channels():
            body = {"incident": str(row), "id": str(row.pk), "severity": row.severity}
            event = f"incident.opened:{row.pk}"
            outbox.put(event=event, destination=channel, purpose="alert", body=body, correlation_id=row.pk)
        facts = {"where": where()}
        audit.record(actor, actions.INCIDENT_TOLD, row, correlation_id=row.pk, facts=facts)
        for consumer in row.reach["consumers"]:
            if consumer["mode"]:
                holds.ask(row, consumer, actor=actor)
    return True


def acknowledge(incident_id: UUID, *, person: Person, actor: Actor) -> None:
    """A person takes an open incident. Conflict, which is recorded, when it is not open any more."""
    incident = Incident.objects.get(pk=incident_id)
    facts = {"incident": str(incident)}
    with (
        kept(actor, actions.INCIDENT_ACKNOWLEDGED, incident, facts, correlation_id=incident.pk),
        transaction(),
    ):
        row = lock(Incident.objects.all(), pk=incident_id)
        if not Incident.objects.filter(pk=row.pk, state="open", version=row.version).update(
            state="acknowledged", version=row.version + 1
        ):
            raise Conflict(f"{row} is {row.state} already.")
        audit.record(actor, actions.INCIDENT_ACKNOWLEDGED, row, correlation_id=row.pk, facts=facts)


def close(incident_id: UUID, resolution: str, *, reason: str, actor: Actor) -> bool:
    """End an incident; its receipt row must stand before (a trigger holds that). False when it was closed before.

    The lease goes too, so that whoever holds the incident does not make it due again.
    """
    if not reason.strip():
        raise BadInput("An incident is closed with a reason; none was given.")
    if not resolution or resolution not in RESOLUTIONS:
        raise BadInput(f"An incident is closed as {', '.join(filter(None, RESOLUTIONS))}, not {resolution[:40]!r}.")
    with transaction():
        row = lock(Incident.objects.all(), pk=incident_id)
        closed = _live(row).update(
            state="closed", resolution=resolution, closed_at=now(), version=row.version + 1,
            due_at=None, lease_until=None, lease_token=None,
        )  # fmt: skip
        if not closed:
            return False
        holds.rest(row)
        facts = {"resolution": resolution.replace("_", " "), "reason": reason}
        audit.record(actor, actions.INCIDENT_CLOSED, row, correlation_id=row.pk, facts=facts)
    return True


def _live(row: Incident) -> QuerySet[Incident]:
    return Incident.objects.filter(pk=row.pk, version=row.version).exclude(state="closed")


def _nameless(reach: Mapping[str, Any]) -> dict[str, Any]:
    """The reach with people as {person_id}: what is frozen for good must not hold a name that can be erased (D15)."""
    return {**reach, "consumers": [_without_names(consumer) for consumer in reach["consumers"]]}


def _without_names(consumer: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: {"person_id": value["person_id"]} if isinstance(value, dict) and "person_id" in value else value
        for key, value in consumer.items()
    }


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
