from __future__ import annotations

import os
import subprocess
import sys
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


def test_importing_the_package_needs_neither_django_nor_celery() -> None:
    code = "import sys; sys.modules.update(django=None, celery=None); import spellbook"
    subprocess.run([sys.executable, "-c", code], cwd=settings.BASE_DIR, check=True)


def test_celery_finds_the_application_by_the_name_of_the_package(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "celery", "-A", "spellbook", "report"],
        cwd=settings.BASE_DIR,
        env={"PATH": os.environ["PATH"], "SPELLBOOK_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "transport:filesystem" in done.stdout
    assert "spellbook.settings" in done.stdout or "task_create_missing_queues: False" in done.stdout


@pytest.mark.parametrize("before", ["", "import spellbook; "])
def test_every_process_with_django_has_our_application_in_each_of_its_threads(tmp_path: Path, before: str) -> None:
    code = (
        f"{before}import django, threading; django.setup(); from foundation.tasks import deliver\n"
        "from celery import current_app\n"
        "threading.Thread(target=lambda: print(current_app.main, deliver.app.main)).start()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=settings.BASE_DIR,
        env={
            "PATH": os.environ["PATH"],
            "SPELLBOOK_DATA_DIR": str(tmp_path),
            "DJANGO_SETTINGS_MODULE": "spellbook.settings",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("spellbook spellbook\n", 0), done.stderr
