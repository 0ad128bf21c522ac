"""When the next reader reads."""

from __future__ import annotations

from datetime import datetime

from catalog import damage_order
from catalog.models import Consumer
from foundation.schedule import next_time


def next_read(consumer: Consumer, at: datetime) -> datetime | None:
    """The first moment after `at` at which the consumer reads, in UTC; None when its times are not known.

    A reader that is triggered by API has no time of its own: it reads when somebody's orchestrator says so.
    """
    return None if consumer.triggered_by_api else next_time(consumer.cron, consumer.zone, at)


def last_useful_minute(consumer: Consumer, read: datetime | None) -> datetime | None:
    """The last moment at which a hold or a repair still comes before `read`: the consumer's lead time earlier."""
    return damage_order.last_useful_minute(read, consumer.lead_seconds)
