"""The one lease-and-claim helper for every row that has work due.

A row is due when `due_at` is not after the database's clock. A worker claims it: the row gets a lease and a fresh
token in one short transaction, and other workers leave it alone until the lease ends. `finish` succeeds only while
the token is still ours, so a worker that was away too long finds out that the row went to somebody else (a fencing
token, as in Kleppmann, "Designing Data-Intensive Applications", chapter 8). Two engines, one rule: PostgreSQL skips
rows that others have locked, SQLite admits one writer at a time (transaction_mode IMMEDIATE).
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import models
from django.db.models import F, Min, Q, QuerySet

from foundation import clock
from foundation.locks import transaction

log = logging.getLogger(__name__)

CHUNK = 100  # rows per transaction: a writer on SQLite holds everybody up


class DueRow(models.Model):
    """A row with work due at `due_at` (null = none). `attempts` counts the claims of its whole life."""

    due_at = models.DateTimeField(null=True, blank=True, db_index=True)
    lease_until = models.DateTimeField(null=True, blank=True, editable=False)
    lease_token = models.UUIDField(null=True, blank=True, editable=False)
    attempts = models.PositiveIntegerField(default=0, editable=False)

    class Meta:
        abstract = True


T = TypeVar("T", bound=DueRow)


def claim(queryset: QuerySet[T], *, limit: int, lease: timedelta) -> list[T]:
    """Take up to `limit` due rows of `queryset`, the longest due first, each leased to the caller for `lease`.

    Commits before it returns (in chunks of at most 100 rows), so it must not be called inside a transaction; every
    row carries the new `lease_token`. Raises Busy when the database cannot be had.
    """
    rows: list[T] = []
    while len(rows) < limit:
        wanted = min(CHUNK, limit - len(rows))
        if not _free(queryset, clock.now()).exists():  # a look takes no lock; most sweeps end here
            break
        chunk = _claim_chunk(queryset, wanted, lease)
        rows += chunk
        if len(chunk) < wanted:
            break
    return rows


def claim_one(queryset: QuerySet[T], pk: Any, *, lease: timedelta) -> T | None:
    """Take this row if it is due and free; None otherwise."""
    rows = claim(queryset.filter(pk=pk), limit=1, lease=lease)
    return rows[0] if rows else None


def look(queryset: QuerySet[T], *, limit: int) -> list[T]:
    """Up to `limit` due rows that nobody has claimed, the longest due first; a look claims nothing."""
    return list(_free(queryset, clock.now()).order_by("due_at", "pk")[:limit])


def each(rows: Iterable[T], work: Callable[[T], bool]) -> int:
    """Do `work` on each claimed row; returns for how many it said True.

    A row whose work fails is logged and comes again when its lease is over, so that it never holds up the others.
    """
    done = 0
    for row in rows:
        try:
            done += work(row)
        except Exception:
            log.exception("%s %s could not be looked at", row._meta.label, row.pk)
    return done


def renew(row: DueRow, *, lease: timedelta) -> bool:
    """Lengthen our lease to `lease` from now; False when the row is no longer ours."""
    until = clock.now() + lease
    if not _ours(row).update(lease_until=until):
        return False
    row.lease_until = until
    return True


def finish(row: DueRow, *, due_at: datetime | None, **values: Any) -> bool:
    """Give the row back, next due at `due_at` (None: never), and set `values` in the same statement.

    False, and nothing is changed, when the lease was lost to another claim meanwhile.
    """
    changes = {"due_at": due_at, "lease_until": None, "lease_token": None, **values}
    if not _ours(row).update(**changes):
        return False
    for name, value in changes.items():
        setattr(row, name, value)
    return True


def oldest_due_age(models: Iterable[type[DueRow]]) -> timedelta | None:
    """How long the longest waiting row that nobody has leased has been due; None when nothing waits."""
    moment = clock.now()
    firsts = [_free(model._base_manager.all(), moment).aggregate(first=Min("due_at"))["first"] for model in models]
    return max((moment - first for first in firsts if first is not None), default=None)


def _free(queryset: QuerySet[T], moment: datetime) -> QuerySet[T]:
    return queryset.filter(Q(lease_until__isnull=True) | Q(lease_until__lte=moment), due_at__lte=moment)


def _claim_chunk(queryset: QuerySet[T], limit: int, lease: timedelta) -> list[T]:
    with transaction(durable=True):
        moment = clock.now()
        free = _free(queryset, moment).order_by("due_at", "pk")
        # SQLite ignores the lock clause; there the transaction itself is the lock.
        rows = list(free.select_for_update(skip_locked=True, of=("self",))[:limit])
        until, token = moment + lease, uuid.uuid4()
        held = queryset.model._base_manager.filter(pk__in=[row.pk for row in rows])
        held.update(attempts=F("attempts") + 1, lease_until=until, lease_token=token)
    for row in rows:
        row.attempts += 1
        row.lease_until, row.lease_token = until, token
    return rows


def _ours(row: DueRow) -> QuerySet[DueRow]:
    if row.lease_token is None:
        return type(row)._base_manager.none()
    return type(row)._base_manager.filter(pk=row.pk, lease_token=row.lease_token)
