"""Waking a sweep after a commit. A lost wake costs a few seconds: beat wakes the same sweep anyway."""

from __future__ import annotations

import logging

from celery import current_app
from django.db import transaction

log = logging.getLogger(__name__)


def wake(task: str) -> None:
    """After this transaction commits, wake the task of that name (its queue follows from the name).

    Never raises for the broker.
    """
    transaction.on_commit(lambda: _send(task), robust=True)


def _send(task: str) -> None:
    try:
        current_app.send_task(task, expires=60, ignore_result=True, retry=False)
    except Exception as error:  # every broker library has its own errors
        log.info("The broker did not take %s (%s); beat will wake it.", task, type(error).__name__)
