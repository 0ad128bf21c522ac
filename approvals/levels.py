"""The record that a level above L2 is earned with: clean receipts, time, and rest after the last change (D13)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from approvals.models import LevelChange, Plan
from catalog.models import Domain
from foundation.errors import Conflict

NO_RECORD_UP_TO = 2
CLEAN = 20
SPAN = timedelta(days=30)
COOL_DOWN = timedelta(days=7)


@dataclass(frozen=True)
class Record:
    """What speaks for a raise of one class: plans verified since the last one that failed, and since when."""

    clean: int
    first: datetime | None
    last_change: datetime | None


def record_of(domain: Domain, step_class: str) -> Record:
    """The record of one class (empty: every class) in a domain."""
    plans = _plans(domain, step_class)
    failed = plans.filter(Q(state="failed") | Q(undone_by__isnull=False)).order_by("-ended_at").first()
    clean = plans.filter(state="verified", undone_by__isnull=True)
    if failed is not None and failed.ended_at is not None:
        clean = clean.filter(ended_at__gt=failed.ended_at)
    first = clean.order_by("ended_at").first()
    change = (
        LevelChange.objects.filter(domain=domain, step_class=step_class, state="done").order_by("-ended_at").first()
    )
    return Record(clean.count(), first.ended_at if first else None, change.ended_at if change else None)


def require_record(domain: Domain, step_class: str, to: int, moment: datetime) -> None:
    """Conflict, saying what is missing, when the record does not carry level `to`; up to L2 none is asked for."""
    if to <= NO_RECORD_UP_TO:
        return
    record = record_of(domain, step_class)
    if record.clean < CLEAN:
        raise Conflict(f"L{to} needs {CLEAN} clean receipts in a row; there are {record.clean}.")
    if record.first is None or moment - record.first < SPAN:
        raise Conflict(f"L{to} needs a record of {SPAN.days} days.")
    if record.last_change is not None and moment - record.last_change < COOL_DOWN:
        raise Conflict(f"The last change of this level is less than {COOL_DOWN.days} days old.")


def _plans(domain: Domain, step_class: str) -> QuerySet[Plan]:
    plans = Plan.objects.filter(Q(incident__domain=domain) | Q(incident__asset__domain=domain))
    if step_class:
        plans = plans.filter(pk__in=Plan.objects.filter(steps__step_class=step_class, steps__state="done"))
    return plans.distinct()
