"""One batch of events: the jobs and datasets that they tell of, then the claims that follow, under one lock.

Everything is worked out from the rows while the head of the graph is locked, so that two workers never add up the
runs of one job at once; a batch is small, so the lock is short. Doing a batch again changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from catalog import actions
from catalog.models import LineageEvent
from catalog.services import lineage_claims, lineage_datasets, lineage_jobs, lineage_words
from catalog.services.graph_lock import hold_graph
from catalog.services.lineage_runs import Runs
from catalog.services.lineage_words import Described
from catalog.sources.openlineage.events import Dataset, Event
from catalog.sources.openlineage.facets import READ, WRITTEN
from foundation import audit
from foundation.audit import Actor
from foundation.locks import transaction


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
    """Make the graph say what these events of one sender say; why some of them say nothing, by event.

    At most one graph version, which is the sender's; what follows from it for readers is done by `actor`. Busy and
    Unavailable as everywhere, with the graph unchanged.
    """
    if not told:
        return {}
    sender = told[0].sender
    meant = lineage_datasets.meet([(one.sender, *pair) for one in told for pair in one.mentions()])
    runs = Runs(told)
    with transaction():
        before = hold_graph().version
        spaces = {name: one.identity.namespace for name, one in meant.items()}
        jobs = lineage_jobs.after(told, runs, spaces)
        heard = [one for one in told if one.row not in jobs.refusals]
        datasets = lineage_datasets.keep(heard, meant)
        touched = lineage_jobs.keep(jobs, datasets.rows) | datasets.touched
        change = lineage_claims.write(touched, len(heard), actor=sender)
        # An event that is read again may have been left when its claims stood and what follows did not.
        again = {meant[dataset.name].asset for one in heard if one.row.attempts > 1 for dataset, _ in one.mentions()}
        described = lineage_words.describe(touched | again)
        if described and change.version == before:
            _tell(described, sender)
    lineage_words.spread(touched | again | described.assets, described.columns | again, heard, actor=actor)
    return dict(jobs.refusals)


def _tell(described: Described, sender: Actor) -> None:
    """What is described otherwise, though the graph is as it was."""
    facts: dict[str, str | int | None] = {
        "project": lineage_claims.KEY, "tables": len(described.columns), "owners": described.owners,
    }  # fmt: skip
    audit.record(sender, actions.GRAPH_DETAILED, ("catalog.source", lineage_claims.KEY), facts=facts)
