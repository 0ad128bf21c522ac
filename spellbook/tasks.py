"""The tasks that advance builds, incidents and plans: each takes due rows or one key, the rows hold the truth.

The first word of a task's name is its queue; a look at one incident or plan goes to the queue of what is next for it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

from celery import shared_task
from django.db.models import QuerySet

from approvals.models import Plan
from approvals.services import escalate, receipts
from catalog.models import Build
from catalog.services import builds, column_lineage, introspections, lineage_events, search_index, staging
from catalog.services.introspect import introspect
from foundation import due
from foundation.clock import now
from foundation.errors import SpellbookError
from incidents.models import Incident
from incidents.services import checks, holds
from incidents.services.damage import note_sync
from spellbook import conductor, repository_file, reviewing, stuck
from spellbook.judging import is_judged
from spellbook.sentences import sentence

log = logging.getLogger(__name__)

BATCH = 20
REVIEWS = 3  # pull requests of one sweep: each may take seconds, and builds wait behind it
LEASE = timedelta(minutes=2)
WAITING = timedelta(seconds=2)
TROUBLE = timedelta(seconds=10)
FAULT = timedelta(minutes=1)
OUR_FAULT = "A fault of ours; the log of the installation has the details."


@shared_task(name="wake.incidents")
def wake_incidents() -> int:
    """Hand each due incident to the queue of its next stage."""
    return _hand_out(_open_incidents(), conductor.next_stage, advance_incident)


@shared_task(name="wake.plans")
def wake_plans() -> int:
    """Hand each due plan that was approved to the queue of its next step."""
    return _hand_out(_plans_at_work(), conductor.plan_stage, advance_plan)


@shared_task(name="work.advance_incident")
def advance_incident(pk: str) -> bool:
    """Take one due incident and do the one thing that is next."""
    row = due.claim_one(_open_incidents(), UUID(pk), lease=LEASE)
    return row is not None and _advance(row, conductor.step)


@shared_task(name="work.advance_plan")
def advance_plan(pk: str) -> bool:
    """Take one due plan and do the one thing that is next."""
    row = due.claim_one(_plans_at_work(), UUID(pk), lease=LEASE)
    return row is not None and _advance(row, conductor.plan_step)


@shared_task(name="work.builds")
def process_builds() -> int:
    """Process the announced builds that are due, each under a lease of its own; how many there were."""
    for done in range(BATCH):
        rows = due.claim(Build.objects.all(), limit=1, lease=LEASE)
        if not rows:
            return done
        _process(rows[0])
    return BATCH


@shared_task(name="work.reviews")
def review_changes() -> int:
    """Read what code hosts sent, and review the pull requests that are due; how many there were."""
    return reviewing.sweep(REVIEWS)


@shared_task(name="work.lineage")
def read_lineage() -> int:
    """Read the OpenLineage events that are due, in batches; forget what was read long ago, and imports that died."""
    done = lineage_events.process_due(BATCH * 50, actor=conductor.conductor())
    lineage_events.forget(BATCH * 5)
    staging.sweep()
    return done


@shared_task(name="work.columns")
def read_columns() -> int:
    """Read the code of assets that is due for what their columns are made of, for about a second."""
    return column_lineage.compute_due(BATCH * 10)


@shared_task(name="work.introspect")
def look_at_warehouses() -> int:
    """Look at the warehouses that are due, each under a lease of its own; how many looks succeeded."""
    actor = conductor.conductor()
    return introspections.sweep(BATCH, lambda name: introspect(name, actor=actor))


@shared_task(name="work.search")
def read_into_search() -> int:
    """Bring the search index up to what changed; else check a part of it."""
    return search_index.catch_up()


@shared_task(name="wake.requests")
def escalate_requests() -> int:
    """Next turns and expiries of pending requests."""
    return escalate.sweep(BATCH * 5)


@shared_task(name="wake.holds")
def mark_late_holds() -> int:
    """Holds that nobody answered before the last useful minute."""
    return holds.sweep(BATCH, actor=conductor.conductor())


@shared_task(name="wake.receipts")
def seal_receipts() -> int:
    """Sign the receipts that wait; only this queue's worker holds the keys."""
    return receipts.seal_due()


def _open_incidents() -> QuerySet[Incident]:
    return Incident.objects.exclude(state="closed")


def _plans_at_work() -> QuerySet[Plan]:
    return Plan.objects.filter(state__in=[stage.state for stage in conductor.PLAN_STAGES])


def _hand_out(waiting: QuerySet[Any], stage_of: Callable[[Any], Any], task: Any) -> int:
    """Only look; the task that takes a row claims it."""
    rows = due.look(waiting, limit=BATCH)
    for row in rows:
        stage = stage_of(row)
        queue = stage.queue if stage else "wake"
        task.apply_async((str(row.pk),), queue=queue, expires=WAITING.total_seconds())
    return len(rows)


def _advance(row: Any, step: Callable[[Any], bool]) -> bool:
    """Do one step and say when to look again: at once after a change, soon while waiting, later after trouble."""
    changed, pause = _tried(row, lambda: step(row))
    wait = timedelta() if changed else pause or WAITING
    due.finish(row, due_at=now() + wait)
    return changed


def _process(build: Build) -> None:
    """Graph, dbt's results, row counts, what a sync did; a build is due until all floors are done with it."""
    actor = conductor.conductor()

    def work() -> bool:
        done = builds.process(build.pk, actor=actor)
        repository_file.read_of(done, actor=actor)
        checks.review(done, actor=actor, judged=is_judged)
        note_sync(done, actor=actor)
        return True

    _, pause = _tried(build, work)
    due.finish(build, due_at=now() + pause if pause else None)


def _tried(row: Any, work: Callable[[], bool]) -> tuple[bool, timedelta | None]:
    """What the work said, and how long to leave the row alone when it failed; the row tells why, once.

    A fault of ours must not hold up the other rows of the sweep, nor come again each second.
    """
    try:
        return work(), None
    except SpellbookError as error:
        stuck.note(row, sentence(error))
        return False, TROUBLE
    except Exception:
        log.exception("%s %s could not be advanced", row._meta.label, row.pk)
        stuck.note(row, OUR_FAULT)
        return False, FAULT
