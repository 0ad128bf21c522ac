from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.conf import settings

from spellbook.beat import BEATS, Beat, schedule
from spellbook.celery import app


@pytest.mark.parametrize("queue", settings.QUEUES)
def test_a_message_reaches_only_the_queue_that_its_name_begins_with(queue: str) -> None:
    folder = Path(settings.CELERY_BROKER_TRANSPORT_OPTIONS["data_folder_in"])
    before = set(os.listdir(folder))
    app.send_task(f"{queue}.nothing")
    (new,) = set(os.listdir(folder)) - before
    assert new.endswith(f".{queue}.msg")


def test_no_task_runs_where_it_is_called() -> None:
    assert app.conf.task_always_eager is False
    assert app.conf.task_acks_late is True


def test_a_message_of_beat_expires_after_its_period() -> None:
    entry = schedule((Beat("wake.sweep", 2),))["wake.sweep"]
    assert entry == {"task": "wake.sweep", "schedule": 2, "options": {"expires": 2}}


def test_every_beat_names_a_task_that_exists() -> None:
    app.loader.import_default_modules()
    assert [beat.task for beat in BEATS if beat.task not in app.tasks] == []
