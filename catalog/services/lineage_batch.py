"""One batch of events: the jobs and datasets that they tell of, then the claims that follow, under one lock.

Everything is worked out from the rows while the head of the graph is locked, so that two workers never add up the
runs of one job at once; a batch is small, so the lock is short. Doing a batch again changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Min

from catalog.models import GraphHead, LineageEvent
from catalog.services import lineage_claims, lineage_datasets, lineage_jobs, lineage_words
from catalog.sources.openlineage.events import Dataset, Event
from catalog.sources.openlineage.facets import READ, WRITTEN
from foundation.audit import Actor
from foundation.locks import lock, transaction


@dataclass(frozen=True)
class Told:
    """A stored event, read, and who sent it."""

    row: LineageEvent
    event: Event
    sender: Actor

    def mentions(self) -> list[tuple[Dataset, int]]:
        """The datasets that it names, each with how much it knows of them."""
        return [
            *((one, READ) for one in self.event.inputs),
            *((one, WRITTEN) for one in self.event.written),
        ]


def apply(told: Sequence[Told], *, actor: Actor) -> dict[LineageEvent, str]:
    """Make the graph say what these events say; why some of them say nothing, by event.

    At most one graph version. Busy and Unavailable as everywhere, with the graph unchanged.
    """
    if not told:
        return {}
    meant = lineage_datasets.meet([(one.sender, *pair) for one in told for pair in one.mentions()])
    with transaction():
        GraphHead.objects.get_or_create(pk=1)
        lock(GraphHead.objects.all(), pk=1)
        spaces = {name: one.identity.namespace for name, one in meant.items()}
        jobs = lineage_jobs.after(told, _starts(told), spaces)
        heard = [one for one in told if one.row not in jobs.refusals]
        datasets = lineage_datasets.keep(heard, meant)
        touched = lineage_jobs.keep(jobs, datasets.rows) | datasets.touched
        lineage_claims.write(touched, len(heard), actor=actor)
    # An event that is read again may have been left when its claims stood and nothing else did.
    again = {meant[dataset.name].asset for one in heard if one.row.attempts > 1 for dataset, _ in one.mentions()}
    lineage_words.spread(touched | again, heard, actor=actor)
    return dict(jobs.refusals)


def _starts(told: Sequence[Told]) -> Mapping[str, datetime]:
    """When each run began, as far as its stored events tell."""
    runs = {one.event.run for one in told if one.event.run}
    found = LineageEvent.objects.filter(run__in=runs).values_list("run").annotate(started=Min("at"))
    return dict(found)
