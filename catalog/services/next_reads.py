"""When the next reader reads."""

from __future__ import annotations

from datetime import datetime, timedelta

from catalog.models import Consumer
from foundation import clock


def next_read(consumer: Consumer, at: datetime) -> datetime | None:
    """The first moment after `at` at which the consumer reads, in UTC; None when its times are not known.

    A reader that is triggered by API has no time of its own: it reads when somebody's orchestrator says so.
    """
    if not consumer.cron or consumer.triggered_by_api:
        return None
    return clock.next_run(consumer.cron, consumer.zone or "UTC", at)


def last_useful_minute(consumer: Consumer, read: datetime) -> datetime:
    """The last moment at which a hold or a repair still comes before `read`: the consumer's lead time earlier."""
    return read - timedelta(seconds=consumer.lead_seconds)
