"""The Celery application: four queues, a broker that only wakes, never eager.

A task goes to the queue named in its decorator (`@shared_task(queue="wake")`) or, without one, by the first word of its
name (`wake.*`, `send.*`, `work.*`, `long.*`). Arguments are primary keys and nothing else.
"""

from __future__ import annotations

import os
from pathlib import Path

from celery import Celery
from django.conf import settings

from spellbook import broker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "spellbook.settings")

broker.register()
app = Celery("spellbook")
app.config_from_object("django.conf:settings", namespace="CELERY")  # read on first use
app.autodiscover_tasks()


def make_folders() -> None:
    """Create the folders that the filesystem broker needs before the first message; other brokers need none."""
    options = settings.CELERY_BROKER_TRANSPORT_OPTIONS
    for name in ("data_folder_in", "data_folder_out", "processed_folder", "control_folder"):
        if name in options:
            Path(options[name]).mkdir(parents=True, exist_ok=True)
