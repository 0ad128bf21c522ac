"""What a watcher outside is told: the site answers, and whether anybody does the due work."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client
from pytest_django import Settings

from foundation import due
from foundation.models import Inbox
from tests.foundation.cast import due_row

pytestmark = pytest.mark.django_db


def readyz() -> tuple[int, Any]:
    answer = Client().get("/readyz")
    return answer.status_code, answer.json()


def test_the_site_answers_without_a_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "ensure_connection", lambda: pytest.fail("it was asked"))
    assert Client().get("/healthz").json() == {"status": "ok"}


def test_without_due_work_it_is_ready() -> None:
    assert readyz() == (200, {"status": "ok", "oldest_due_seconds": None})


def test_work_that_waits_a_little_is_no_trouble() -> None:
    due_row(ago=timedelta(seconds=5))
    status, told = readyz()
    assert (status, told["status"]) == (200, "ok")
    assert 5 <= told["oldest_due_seconds"] < 60


def test_work_that_nobody_does_is_told(settings: Settings) -> None:
    row = due_row(ago=timedelta(seconds=settings.SPELLBOOK_READY_LIMIT + 60))
    status, told = readyz()
    assert (status, told["status"]) == (503, "due work is waiting")
    assert told["oldest_due_seconds"] >= settings.SPELLBOOK_READY_LIMIT + 60
    due.finish(row, due_at=None)
    Inbox.objects.update(due_at=None)
    assert readyz()[0] == 200


def test_a_database_that_is_away_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(connection, "ensure_connection", away)
    assert readyz() == (503, {"status": "database unavailable", "oldest_due_seconds": None})


def test_nothing_is_written_and_nothing_is_kept() -> None:
    answer = Client().get("/readyz")
    assert "no-cache" in answer.headers["Cache-Control"]
    assert Client().post("/readyz").status_code == 405
