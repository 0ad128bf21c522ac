"""A hold is asked of a sync's operator; only that person can stop the sync, Spellbook never does (D10)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from foundation import audit, due
from foundation.audit import Actor
from foundation.clock import now
from foundation.errors import BadInput, Conflict, NotAllowed, NotFound
from foundation.locks import lock, transaction
from foundation.models import Person
from foundation.refusals import kept
from incidents import actions
from incidents.models import Hold, Incident
from incidents.services.wake import wake

WAITING = ("asked", "acknowledged")
BEFORE: Mapping[str, tuple[str, ...]] = {
    "acknowledged": ("asked",),
    "held": WAITING,
    "declined": WAITING,
    "released": ("held",),
}
"""Each answer, and the states in which it can be given."""


def ask(incident: Incident, consumer: Mapping[str, Any], *, actor: Actor) -> Hold:
    """Ask for one sync of the frozen reach, inside the transaction that tells; due at the last useful minute."""
    operator, latest = consumer["operator"], consumer["last_useful_minute"]
    needed_by = datetime.fromisoformat(latest) if latest else None
    hold = Hold.objects.create(
        incident=incident, consumer_id=consumer["asset_id"], operator_id=operator["person_id"] if operator else None,
        asked_at=now(), needed_by=needed_by, due_at=needed_by,
    )  # fmt: skip
    facts = {
        "whom": "its operator" if operator else "nobody, since no operator is named,",
        "consumer": consumer["name"],
        "needed_by": _minute(needed_by),
    }
    audit.record(actor, actions.HOLD_ASKED, hold, correlation_id=incident.pk, facts=facts)
    return hold


def answer(hold_id: int, state: str, text: str, *, person: Person, actor: Actor) -> Hold:
    """The operator says what they did: acknowledged, held, declined, released.

    Raises NotAllowed for anybody who is not the operator, Conflict when the hold has gone past that answer; both are
    kept as refused.
    """
    if state not in BEFORE:
        raise BadInput(f"A hold is answered with {', '.join(BEFORE)}, not {state[:40]!r}.")
    hold = Hold.objects.select_related("consumer").filter(pk=hold_id).first()
    if hold is None:
        raise NotFound("There is no such hold.")
    facts = {"consumer": hold.consumer.name, "state": state, "answer": f", {text[:500]}" if text else ""}
    with (
        kept(actor, actions.HOLD_ANSWERED, hold, facts, correlation_id=hold.incident_id),
        transaction(),
    ):
        row = lock(Hold.objects.all(), pk=hold_id)
        _permit(row, person)
        due_at = row.due_at if state == "acknowledged" else None
        answered = Hold.objects.filter(pk=row.pk, state__in=BEFORE[state])
        if not answered.update(state=state, answered_at=now(), answer=text[:500], due_at=due_at):
            raise Conflict(f"This hold is {row.state.replace('_', ' ')} already.")
        audit.record(actor, actions.HOLD_ANSWERED, row, correlation_id=row.incident_id, facts=facts)
        wake(row.incident_id)
    hold.refresh_from_db()
    return hold


def sweep(limit: int, *, actor: Actor) -> int:
    """Mark the holds that nobody answered before the last useful minute; each is marked once."""
    rows = due.claim(Hold.objects.filter(state__in=WAITING), limit=limit, lease=timedelta(seconds=30))
    return due.each(rows, lambda hold: _mark_too_late(hold, actor))


def rest(incident: Incident) -> None:
    """Nobody is late any more with an answer to a closed incident; call it in the transaction that closes it."""
    Hold.objects.filter(incident=incident, state__in=WAITING).update(due_at=None, lease_until=None, lease_token=None)


def _permit(hold: Hold, person: Person) -> None:
    active = Person.objects.filter(pk=person.pk, is_active=True).exists()
    if hold.operator_id != person.pk or not active:
        raise NotAllowed("Only the operator who was asked can answer this hold.")


def _mark_too_late(hold: Hold, actor: Actor) -> bool:
    with transaction():
        row = lock(Hold.objects.select_related("consumer"), pk=hold.pk)
        late = Hold.objects.filter(pk=row.pk, state__in=WAITING, needed_by__lte=now())
        if not late.update(state="too_late", due_at=None, lease_until=None, lease_token=None):
            return False
        facts = {"consumer": row.consumer.name, "needed_by": _minute(row.needed_by)}
        audit.record(actor, actions.HOLD_TOO_LATE, row, correlation_id=row.incident_id, facts=facts)
        wake(row.incident_id)
    return True


def _minute(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else "its next run, whose time is not known"
