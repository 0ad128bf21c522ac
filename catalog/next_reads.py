"""When the next reader reads."""

from __future__ import annotations

from datetime import datetime, timedelta

from catalog.models import Consumer
from foundation import schedule
from foundation.errors import BadInput


def next_read(consumer: Consumer, at: datetime) -> datetime | None:
    """The first moment after `at` at which the consumer reads, in UTC; None when its times are not known.

    A reader that is triggered by API has no time of its own: it reads when somebody's orchestrator says so.
    """
    return None if consumer.triggered_by_api else next_time(consumer.cron, consumer.zone, at)


def next_time(cron: str, zone: str, at: datetime) -> datetime | None:
    """The first moment after `at` at which a schedule fires, in UTC; None without a schedule.

    None also for one that cannot be read any more (its zone is gone): one reader must not hide all the others.
    """
    try:
        return schedule.next_run(cron, zone or "UTC", at) if cron else None
    except BadInput:
        return None


def last_useful_minute(consumer: Consumer, read: datetime) -> datetime:
    """The last moment at which a hold or a repair still comes before `read`: the consumer's lead time earlier."""
    return read - timedelta(seconds=consumer.lead_seconds)
