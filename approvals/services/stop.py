"""The stop: one row that every dispatch claim and every decision reads under lock (D14, I10)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import connection

from approvals import actions, shown
from approvals.models import Request, Run, Stop
from approvals.scope import is_dispatch
from approvals.services import receipts
from approvals.services.ask import supersede
from approvals.services.autonomy import require_person
from foundation import audit
from foundation.audit import Actor
from foundation.clock import now
from foundation.errors import BadInput, Conflict, NotAllowed
from foundation.locks import lock, transaction
from foundation.models import Person
from foundation.people import has_role
from foundation.refusals import kept

STOP = (Stop._meta.label_lower, "1")
IN_FLIGHT = ("claimed", "running")


def stop_row_for_claim() -> Stop:
    """The stop as it is, held against change until the caller's transaction ends.

    FOR SHARE on PostgreSQL; on SQLite the IMMEDIATE transaction is the lock. The row is made on first use: a lock on a
    row that does not exist holds nobody.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("The stop is read under lock, inside the transaction of a claim.")
    Stop.objects.get_or_create(pk=1)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT id FROM approvals_stop WHERE id = 1 FOR SHARE")
    return Stop.objects.get(pk=1)


def set_stop(reason: str, *, person: Person, actor: Actor | None = None) -> Stop:
    """Stop every dispatch from this commit on. Any signed-in person may; runs in flight become due, to be ended.

    Raises NotAllowed for anybody but a person, BadInput without a reason, Conflict when it is set already.
    """
    actor = actor or Actor(person.principal, "web")
    with kept(actor, actions.STOP_REFUSED, STOP, {"deed": "set the stop"}), transaction():
        require_person(person, actor)
        if not reason.strip():
            raise BadInput("The stop is set with a reason; none was given.")
        _, moment, row = _turn(True, person, reason.strip()[:500])
        in_flight = Run.objects.filter(state__in=IN_FLIGHT)
        count = in_flight.update(due_at=moment)
        facts: dict[str, str | int | None] = {"in_flight": count, "reason": reason.strip()[:500]}
        audited = audit.record(actor, actions.STOP_SET, row, facts=facts)
        _receipt(row, person, moment, {"in_flight": count, "details_sha256": audited.detail_sha256})
    return row


def lift_stop(*, person: Person, actor: Actor | None = None) -> Stop:
    """Let dispatches go on. Deadlines that lay after the stop move by its length; what came too late is superseded.

    Raises NotAllowed unless the person has the role admin, Conflict when no stop is set.
    """
    actor = actor or Actor(person.principal, "web")
    with kept(actor, actions.STOP_REFUSED, STOP, {"deed": "lift the stop"}), transaction():
        require_person(person, actor)
        if not has_role(person, "admin"):
            raise NotAllowed("Only people with the role admin lift the stop.")
        since, moment, row = _turn(False, person, "")
        moved, superseded = _thaw(since or moment, moment, actor)
        facts = {"moved": moved, "superseded": superseded}
        audit.record(actor, actions.STOP_LIFTED, row, facts=facts)
        _receipt(row, person, moment, facts)
    return row


def _turn(active: bool, person: Person, reason: str) -> tuple[datetime | None, datetime, Stop]:
    """Turn the row over; returns since when it stood as it did, the moment, and the row."""
    Stop.objects.get_or_create(pk=1)
    row = lock(Stop.objects.all(), pk=1)
    since, moment = row.changed_at, now()
    changed = Stop.objects.filter(pk=1, active=not active, version=row.version).update(
        active=active, version=row.version + 1, changed_by=person, changed_at=moment, reason=reason
    )
    if not changed:
        raise Conflict("The stop is set already." if active else "No stop is set.")
    row.refresh_from_db()
    return since, moment, row


def _thaw(since: datetime, moment: datetime, actor: Actor) -> tuple[int, int]:
    """Give frozen requests their time back; those whose time was over before the stop are due, to expire (I5)."""
    Request.objects.filter(state="pending", expires_at__lte=since).update(due_at=moment)
    moved = superseded = 0
    for row in Request.objects.filter(state="pending", expires_at__gt=since).order_by("pk"):
        request = lock(Request.objects.select_related("plan"), pk=row.pk)
        if request.state != "pending" or not is_dispatch(request.plan):
            continue
        if _damage_passed(request, since, moment):
            superseded += supersede(request.plan_id, "its damage time passed while the stop was set", actor=actor)
            continue
        frozen = moment - max(since, request.created_at)
        Request.objects.filter(pk=request.pk, state="pending").update(
            expires_at=request.expires_at + frozen,
            frozen_seconds=request.frozen_seconds + int(frozen.total_seconds()),
            due_at=moment,
        )
        moved += 1
    return moved, superseded


def _damage_passed(request: Request, since: datetime, moment: datetime) -> bool:
    damage_at = shown.read(request)["damage_at"]
    return damage_at is not None and since < datetime.fromisoformat(damage_at) <= moment


def _receipt(row: Stop, person: Person, moment: datetime, more: Mapping[str, int | str]) -> None:
    state = {"active": row.active, "version": row.version, "principal": str(person.principal_id)}
    receipts.write(
        "stop", f"stop/{row.version}", {**state, **more},
        subjects=[receipts.of_values(f"stop/{row.version}", state)], created_at=moment,
    )  # fmt: skip
