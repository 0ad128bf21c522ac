from __future__ import annotations

import pytest
from celery import current_app
from django.conf import settings
from django.db import transaction

from foundation import outbox, tasks
from foundation.wake import wake


def test_the_outbox_wakes_a_task_that_exists_on_the_queue_for_sending() -> None:
    assert current_app.tasks[outbox.TASK].name == tasks.deliver.name
    assert settings.CELERY_TASK_ROUTES["send.*"] == {"queue": "send"}


def test_nothing_is_woken_before_the_commit(committing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    woken: list[str] = []
    monkeypatch.setattr("foundation.wake._send", woken.append)
    with transaction.atomic():
        wake("send.outbox")
        assert not woken
    assert woken == ["send.outbox"]


def test_a_broker_that_is_away_does_no_harm(committing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*args: object, **more: object) -> None:
        raise OSError("no broker")

    monkeypatch.setattr(current_app, "send_task", away)
    with transaction.atomic():
        wake("send.outbox")
