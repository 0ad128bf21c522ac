from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
from django.contrib.sessions.models import Session
from django.db import DatabaseError, connection, connections, transaction
from django.utils import timezone

from tests.engines import chosen

SCRIPT = (
    "import django; django.setup(); from django.contrib.sessions.models import Session as S; print(S.objects.count())"
)


def add_session(key: str) -> None:
    Session.objects.create(session_key=key, session_data="", expire_date=timezone.now())


@pytest.mark.parametrize("turn", [1, 2])
def test_a_committing_test_starts_from_an_empty_database(committing: str, turn: int) -> None:
    assert not Session.objects.exists()
    with transaction.atomic():
        add_session("committed")
    assert Session.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("turn", [1, 2])
def test_an_ordinary_test_is_rolled_back(turn: int) -> None:
    assert not Session.objects.exists()
    add_session("rolled back")


@pytest.mark.django_db
def test_a_committing_database_may_replace_an_ordinary_one(request: pytest.FixtureRequest) -> None:
    add_session("ordinary")
    request.getfixturevalue("committing")
    assert not Session.objects.exists()


def test_other_threads_see_what_was_committed(committing: str) -> None:
    add_session("from the test")
    seen: list[int] = []

    def look() -> None:
        seen.append(Session.objects.count())
        connections.close_all()

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [1]


def test_on_commit_runs_in_a_committing_test(committing: str) -> None:
    ran: list[str] = []
    with transaction.atomic():
        transaction.on_commit(lambda: ran.append("yes"))
        assert not ran
    assert ran == ["yes"]


def test_a_subprocess_works_on_the_same_database(committing: str) -> None:
    add_session("from the test")
    answer = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env=os.environ)
    assert answer.stdout.strip() == "1"


@pytest.mark.skipif(chosen() != "postgres", reason="roles are PostgreSQL's")
def test_the_tests_are_neither_owner_nor_superuser(committing: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = current_user")
        assert cursor.fetchone() == (False, False, False)
        cursor.execute("SELECT count(*) FROM pg_tables WHERE tableowner = current_user")
        assert cursor.fetchone() == (0,)
    with pytest.raises(DatabaseError, match="must be owner"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE django_session ADD COLUMN extra int")
    with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("TRUNCATE django_session")


@pytest.mark.skipif(chosen() != "sqlite", reason="PRAGMAs are SQLite's")
@pytest.mark.parametrize(
    ("pragma", "value"), [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1), ("recursive_triggers", 1)]
)
def test_sqlite_runs_with_the_safe_settings(committing: str, pragma: str, value: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {pragma}")
        assert cursor.fetchone() == (value,)


def test_what_asks_no_database_is_told_once() -> None:
    """It is left out on PostgreSQL, so a run of it there says that nothing is left out any more."""
    assert chosen() != "postgres" or os.environ.get("SPELLBOOK_TEST_ALL") == "1"
