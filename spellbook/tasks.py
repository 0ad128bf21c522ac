"""The tasks that advance builds, incidents and plans: each takes due rows or one primary key, the rows hold the truth."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

from celery import shared_task
from django.db.models import Q, QuerySet

from approvals.models import Plan
from approvals.services import escalate, receipts
from catalog.models import Build
from catalog.services import builds
from foundation import due, outbox
from foundation.clock import now
from foundation.errors import SpellbookError
from incidents.models import Incident
from incidents.services import checks, holds
from incidents.services.damage import note_sync
from spellbook import conductor, stuck

BATCH = 20
LEASE = timedelta(minutes=5)
WAITING = timedelta(seconds=2)
TROUBLE = timedelta(seconds=10)


@shared_task(queue="wake")
def wake_incidents() -> int:
    """Hand each due incident to the queue of its next stage."""
    return _hand_out(_due(Incident.objects.exclude(state="closed")), _incident_queue, advance_incident)


@shared_task(queue="wake")
def wake_plans() -> int:
    """Hand each due plan that was approved to the queue of its next step."""
    return _hand_out(_due(Plan.objects.filter(state__in=("acting", "verifying"))), _plan_queue, advance_plan)


@shared_task
def advance_incident(pk: str) -> bool:
    """Take one due incident and do the one thing that is next."""
    row = due.claim_one(Incident.objects.exclude(state="closed"), UUID(pk), lease=LEASE)
    return row is not None and _advance(row, conductor.step)


@shared_task
def advance_plan(pk: str) -> bool:
    """Take one due plan and do the one thing that is next."""
    row = due.claim_one(Plan.objects.filter(state__in=("acting", "verifying")), UUID(pk), lease=LEASE)
    return row is not None and _advance(row, conductor.plan_step)


@shared_task(queue="work")
def process_builds() -> int:
    """Process the announced builds that are due: graph, dbt's results, row counts, what a sync did."""
    rows = due.claim(Build.objects.all(), limit=BATCH, lease=LEASE)
    for row in rows:
        _process(row)
    return len(rows)


@shared_task(queue="wake")
def escalate_requests() -> int:
    """Next turns and expiries of pending requests."""
    return escalate.sweep(BATCH * 5)


@shared_task(queue="wake")
def mark_late_holds() -> int:
    """Holds that nobody answered before the last useful minute."""
    return holds.sweep(BATCH, actor=conductor.conductor())


@shared_task(queue="wake")
def seal_receipts() -> int:
    """Sign the receipts that wait; only this queue's worker holds the keys."""
    return receipts.seal_due()


@shared_task(queue="send")
def deliver_messages() -> int:
    """Send what waits in the outbox."""
    return outbox.deliver_due()


def _due(rows: QuerySet[Any]) -> list[Any]:
    """Rows whose time has come and that nobody holds; only looked at, the task that takes one claims it."""
    moment = now()
    free = Q(lease_until__isnull=True) | Q(lease_until__lt=moment)
    return list(rows.filter(free, due_at__lte=moment).order_by("due_at")[:BATCH])


def _hand_out(rows: list[Any], queue: Callable[[Any], str], task: Any) -> int:
    for row in rows:
        task.apply_async((str(row.pk),), queue=queue(row), expires=WAITING.total_seconds())
    return len(rows)


def _incident_queue(row: Incident) -> str:
    stage = conductor.next_stage(row)
    return stage.queue if stage else "wake"


def _plan_queue(row: Plan) -> str:
    stage = conductor.plan_stage(row)
    return stage.queue if stage else "wake"


def _advance(row: Any, step: Callable[[Any], bool]) -> bool:
    """Do one step and say when to look again: at once after a change, soon while waiting, later after trouble."""
    try:
        changed, pause = step(row), WAITING
    except SpellbookError as error:
        stuck.note(row, str(error))
        changed, pause = False, TROUBLE
    due.finish(row, due_at=now() if changed else now() + pause)
    return changed


def _process(build: Build) -> None:
    actor = conductor.conductor()
    try:
        done = builds.process(build.pk, actor=actor)
        checks.review(done, actor=actor)
        note_sync(done, actor=actor)
    except SpellbookError as error:
        stuck.note(build, str(error))
        due.finish(build, due_at=now() + TROUBLE)
        return
    due.finish(build, due_at=None)
