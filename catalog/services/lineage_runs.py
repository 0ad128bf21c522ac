"""What stored events tell of runs: when each began, which of them failed, what they named before they completed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

import orjson
from django.db.models import Max, Min, QuerySet

from catalog.models import LineageEvent
from catalog.sources.openlineage import events
from catalog.sources.openlineage.events import ENDED, FAILED, Event
from catalog.sources.openlineage.jobs import Use, uses_of
from foundation.bulk import among

if TYPE_CHECKING:
    from catalog.services.lineage_batch import Told

MOST: Final = 500  # events read again for one batch: a run that beats for weeks names the same all the time
FEW: Final = 10


class Runs:
    """The runs that a batch tells of, as far as their events are stored.

    Only events that were read and not refused count, so that nobody says through another's run what was refused.
    """

    def __init__(self, told: Sequence[Told]) -> None:
        runs = {one.event.run for one in told if one.event.run}
        stored = LineageEvent.objects.filter(run__in=among(sorted(runs)))
        self.starts: dict[str, datetime] = _began(stored)
        last = dict(_read(stored).values_list("run").annotate(last=Max("at")))
        late = {one.event.run for one in told if one.event.run in last and one.row.at <= last[one.event.run]}
        ended = {one.event.run for one in told if one.event.state == ENDED} & last.keys()
        self.failed: set[str] = set()
        self._named: dict[str, set[Use]] = defaultdict(set)
        for event in _events(_read(stored), late | ended):
            self.hear(event)

    def named(self, run: str) -> Collection[Use]:
        """What the run named in events that are known."""
        return self._named[run] if run else ()

    def know(self, runs: Iterable[str]) -> None:
        """Find out when these runs began too."""
        self.starts |= _began(LineageEvent.objects.filter(run__in=among(sorted(set(runs) - self.starts.keys()))))

    def hear(self, event: Event) -> None:
        """Know this event too."""
        if event.state in FAILED:
            self.failed.add(event.run)
        elif event.run:
            self._named[event.run].update(uses_of(event))


def _began(rows: QuerySet[LineageEvent]) -> dict[str, datetime]:
    return dict(rows.order_by().values_list("run").annotate(began=Min("at")))


def _read(rows: QuerySet[LineageEvent]) -> QuerySet[LineageEvent]:
    return rows.filter(processed_at__isnull=False, refusal="").order_by()


def _events(rows: QuerySet[LineageEvent], runs: Collection[str]) -> Iterable[Event]:
    if not runs:
        return
    bodies = rows.filter(run__in=among(sorted(runs))).order_by("at").values_list("body", flat=True)[:MOST]
    for body in bodies.iterator(chunk_size=FEW):
        yield events.read(orjson.loads(bytes(body)), "run")
