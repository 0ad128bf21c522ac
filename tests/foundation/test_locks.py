from __future__ import annotations

import threading
from uuid import uuid4

import pytest
from django.db import OperationalError, connection, connections

from foundation import locks
from foundation.errors import Busy, NotFound, Unavailable
from foundation.models import Inbox
from tests.engines import chosen
from tests.foundation.cast import at_once, due_row

pytestmark = pytest.mark.django_db


def shorten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait a tenth of a second instead of twenty."""
    monkeypatch.setattr(locks, "LOCK_SECONDS", 0.1)
    if chosen() == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout = 100")


def test_a_lock_gives_the_row_as_it_is_now() -> None:
    row = due_row()
    with locks.transaction():
        assert locks.lock(Inbox.objects.all(), pk=row.pk) == row
        with pytest.raises(NotFound, match="no such incoming message"):
            locks.lock(Inbox.objects.all(), pk=uuid4())


def test_a_lock_needs_a_transaction(committing: str) -> None:
    with pytest.raises(RuntimeError):
        locks.lock(Inbox.objects.all(), pk=uuid4())


def test_who_cannot_get_the_lock_is_told_that_nothing_was_recorded(
    committing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = due_row()
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with locks.transaction():
            locks.lock(Inbox.objects.all(), pk=row.pk)
            held.set()
            release.wait(30)
        connections.close_all()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(30)
    shorten(monkeypatch)
    try:
        with pytest.raises(Busy, match="nothing was recorded"), locks.transaction():
            locks.lock(Inbox.objects.all(), pk=row.pk)
    finally:
        release.set()
        holder.join()


def test_writers_at_once_wait_for_each_other(committing: str) -> None:
    row = due_row()

    def add() -> None:
        for _ in range(10):
            with locks.transaction():
                mine = locks.lock(Inbox.objects.all(), pk=row.pk)
                Inbox.objects.filter(pk=row.pk).update(attempts=mine.attempts + 1)

    at_once(4, add)
    assert Inbox.objects.get().attempts == 40


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("database is locked", Busy),
        ("database or disk is full", Unavailable),
        ("unable to open database file", Unavailable),
        ("attempt to write a readonly database", Unavailable),
    ],
)
def test_errors_of_the_database_become_sentences(text: str, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"nothing was recorded"), locks.transaction():
        raise OperationalError(text)


def write_much() -> None:
    with locks.transaction():
        for number in range(500):
            due_row(str(number) * 50)


@pytest.mark.skipif(chosen() != "sqlite", reason="max_page_count is SQLite's")
def test_a_full_disk_is_a_sentence_and_nothing_is_half_written(committing: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA page_count")
        cursor.execute(f"PRAGMA max_page_count = {cursor.fetchone()[0]}")
    with pytest.raises(Unavailable, match="disk"):
        write_much()
    assert not Inbox.objects.exists()
