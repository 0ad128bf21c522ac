"""What workers do for the cellar: each task loads nothing and calls one service."""

from __future__ import annotations

from celery import shared_task

from foundation import outbox


@shared_task(name=outbox.TASK)
def deliver() -> None:
    outbox.deliver_due()
