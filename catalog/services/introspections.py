"""When each warehouse is looked at again, and what came of the last look."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings

from catalog.models import Introspection
from catalog.warehouses.registry import KINDS
from foundation import clock, due
from foundation.errors import Busy, SpellbookError, Unavailable
from foundation.locks import transaction
from foundation.models import Connection

LEASE = timedelta(minutes=15)
SOON = timedelta(minutes=5)
"""A warehouse that could not be asked (locked by a build, away) is asked again before its time."""
PROBLEM = 500


def note(connection: Connection, *, problem: str = "", tables: int | None = None) -> None:
    """Keep what came of a look: the number of tables, or the problem; the last good look is not forgotten."""
    values: dict[str, Any] = {"problem": problem[:PROBLEM]}
    if not problem:
        values |= {"seen_at": clock.now(), "tables": tables}
    with transaction():
        if not Introspection.objects.filter(connection=connection).update(**values):
            due_at = clock.now() + every() if every() else None
            Introspection.objects.create(connection=connection, due_at=due_at, **values)


def every() -> timedelta:
    """The time from one look to the next; zero when warehouses are looked at on command alone."""
    return timedelta(minutes=settings.SPELLBOOK_INTROSPECT_MINUTES)


def sweep(limit: int, look: Callable[[str], object]) -> int:
    """Call `look` with the name of each connection whose warehouse is due, up to `limit`; how many looks succeeded.

    A look that is refused leaves its problem with the connection (see `introspect`) and comes again.
    """
    _line_up()
    done = 0
    for _ in range(limit if every() else 0):
        rows = due.claim(Introspection.objects.all(), limit=1, lease=LEASE)
        if not rows:
            break
        done += due.each(rows, lambda row: _looked(row, look))
    return done


def _line_up() -> None:
    """Give every connection that reads a warehouse its row, and take from the line what is none any more."""
    readable = Connection.objects.filter(purpose="read", kind__in=KINDS).exclude(namespace="")
    new = list(readable.filter(introspection__isnull=True))
    idle = Introspection.objects.filter(due_at__isnull=False)
    away = idle.exclude(connection__in=readable) if every() else idle
    back = Introspection.objects.filter(due_at__isnull=True, lease_token__isnull=True, connection__in=readable)
    if not (new or away.exists() or (every() and back.exists())):
        return
    with transaction():
        moment = clock.now() if every() else None
        Introspection.objects.bulk_create(
            [Introspection(connection=one, due_at=moment) for one in new], ignore_conflicts=True
        )
        away.update(due_at=None)
        if every():
            back.update(due_at=moment)


def _looked(row: Introspection, look: Callable[[str], object]) -> bool:
    try:
        look(Connection.objects.get(pk=row.pk).name)
    except (Unavailable, Busy):
        due.finish(row, due_at=clock.now() + min(SOON, every()))
        return False
    except SpellbookError:
        due.finish(row, due_at=clock.now() + every())
        return False
    return due.finish(row, due_at=clock.now() + every())
