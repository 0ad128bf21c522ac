"""Transactions and row locks that answer in words when they cannot be had."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, InterfaceError, OperationalError, connection, models
from django.db import transaction as django_transaction
from django.db.models import QuerySet

from foundation.errors import Busy, NotFound, SpellbookError, Unavailable

LOCK_SECONDS = 20  # on SQLite the connection's own `timeout` says the same

T = TypeVar("T", bound=models.Model)

_BUSY_STATES = {"55P03", "40P01", "40001"}  # lock not available, deadlock, serialization failure
_FULL_STATES = {"53100"}
_BUSY_WORDS = ("database is locked", "database table is locked", "database schema is locked")
_FULL_WORDS = ("database or disk is full", "disk i/o error")


@contextmanager
def transaction(*, durable: bool = False) -> Iterator[None]:
    """`atomic()` that answers in words.

    Raises Busy when a lock is not to be had within 20 s, Unavailable when the disk is full or the database away.
    """
    outermost = not connection.in_atomic_block
    with _in_words(), django_transaction.atomic(durable=durable):
        if outermost and connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{LOCK_SECONDS}s"])
        yield


def lock(queryset: QuerySet[T], **lookup: Any) -> T:
    """The one row of `queryset` that `lookup` names, locked until the transaction ends and as it is now.

    Raises NotFound, and Busy when another transaction keeps it too long.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("A lock lasts as long as a transaction; there is none here.")
    with _in_words():
        try:
            # SQLite ignores the lock clause; there the IMMEDIATE transaction is the lock.
            return queryset.select_for_update(of=("self",)).get(**lookup)
        except ObjectDoesNotExist:
            raise NotFound(f"There is no such {queryset.model._meta.verbose_name}.") from None


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        translated = _translate(error)
        if translated is None:
            raise
        raise translated from error


def _translate(error: DatabaseError | InterfaceError) -> SpellbookError | None:
    text = str(error).lower()
    state = getattr(error.__cause__, "sqlstate", None)
    if state in _BUSY_STATES or any(words in text for words in _BUSY_WORDS):
        return Busy("The database is busy; nothing was recorded.")
    if state in _FULL_STATES or any(words in text for words in _FULL_WORDS):
        return Unavailable("The disk under the database is full or failing; nothing was recorded.")
    if connection.vendor == "postgresql" and state is None:
        return Unavailable("The database cannot be reached; nothing was recorded.")
    if "unable to open database file" in text or "readonly database" in text:
        return Unavailable("The database file cannot be written; nothing was recorded.")
    return None
