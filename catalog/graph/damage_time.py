"""The order in which readers are harmed: who reads next, what a wrong read does there, until when a hold helps."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from django.core.exceptions import EmptyResultSet
from numpy.typing import NDArray

from catalog.damage_order import LIVE, harm_of, last_useful_minute
from catalog.graph.raw_rows import fetched
from catalog.models import Consumer
from foundation.schedule import next_time


class Said(NamedTuple):
    """What is declared of a reader."""

    asset_id: int
    status: str
    consequence: str
    tool: str | None
    mode: str | None
    delete_rule: str | None
    cron: str
    zone: str
    triggered_by_api: bool
    lead_seconds: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A reader with its next read; times are UTC, None where they are not known."""

    said: Said
    next_read: datetime | None

    @property
    def last_useful_minute(self) -> datetime | None:
        return last_useful_minute(self.next_read, self.said.lead_seconds)


def declared(among: Collection[int] | None = None) -> list[Said]:
    """What is declared of the live readers (at most 500 assets `among`, default: all). One query."""
    rows = Consumer.objects.filter(status__in=LIVE).order_by()
    if among is not None:
        rows = rows.filter(asset__in=among)
    of_sync = ("sync__tool", "sync__mode", "sync__delete_rule")
    times = ("cron", "zone", "triggered_by_api", "lead_seconds")
    try:
        with fetched(rows.values_list("asset_id", "status", "consequence", *of_sync, *times)) as found:
            return [Said(*row) for row in found]
    except EmptyResultSet:  # among nothing
        return []


class Readings:
    """Readers with their next reads after `at`; `kinds` are those of their assets."""

    def __init__(self, said: Sequence[Said], kinds: Sequence[str], at: datetime) -> None:
        self.said, self.kinds = said, kinds
        schedules = {(one.cron, one.zone) for one in said if not one.triggered_by_api}
        times = {schedule: next_time(*schedule, at) for schedule in schedules}
        self.times = [None if one.triggered_by_api else times[one.cron, one.zone] for one in said]

    def __len__(self) -> int:
        return len(self.said)

    def __getitem__(self, place: int) -> Reading:
        return Reading(self.said[place], self.times[place])

    @cached_property
    def next_read(self) -> datetime | None:
        """The first of all reads whose times are known."""
        return min((time for time in self.times if time), default=None)

    def by_damage(self, hops: NDArray[Any]) -> NDArray[np.int64]:
        """The places of the readers by time to damage (as `urgency` sorts), then by `hops`, then by asset id."""
        moments = {time: place for place, time in enumerate(sorted({time for time in self.times if time}))}
        when = [moments.get(time, len(moments)) if time else len(moments) for time in self.times]
        harm = [harm_of(one.mode, kind) for one, kind in zip(self.said, self.kinds, strict=True)]
        known = [bool(one.consequence) for one in self.said]
        lead = [-one.lead_seconds for one in self.said]
        ids = [one.asset_id for one in self.said]
        return np.lexsort([np.asarray(key) for key in (ids, hops, lead, known, harm, when)])
