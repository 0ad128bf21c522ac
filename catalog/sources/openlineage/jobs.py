"""What the runs of one job add up to: the datasets that it reads and writes now.

The newest run speaks for its job. While it goes on, or when it failed, it adds to what stood before; when it has
completed, what it did not name goes. A run that named no dataset at all says nothing: a producer that could not look
into a run sends just that. Events may come twice and in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal, TypeAlias

from catalog.sources.naming import DatasetName
from catalog.sources.openlineage.events import ENDED, MOST_PAIRS, Event
from foundation.errors import BadInput

Role = Literal["input", "output"]
Use: TypeAlias = tuple[Role, DatasetName]

STATIC: Final = "job event"
"""In the place of a run's id, with its moment, for what a job event says: of the job's code, not of a run."""


@dataclass(frozen=True)
class Job:
    """A job's newest run (`started`: its first event), whether it completed, and which run named each use last."""

    run: str = ""
    started: datetime | None = None
    completed: bool = False
    uses: Mapping[Use, str] = field(default_factory=dict)

    def datasets(self, role: Role) -> frozenset[DatasetName]:
        return frozenset(name for one, name in self.uses if one == role)


def after(job: Job, event: Event, started: datetime) -> Job:
    """`job` when `event` is known too; `started` is when the event's run began, as far as its events tell.

    BadInput when the job would make more than 5,000 edges.
    """
    run = event.run or f"{STATIC} {event.at.isoformat()}"
    if run == job.run:
        changed = replace(job, started=min(started, job.started or started), uses=_added(job.uses, event, run))
    elif job.started is None or started >= job.started:
        changed = replace(job, run=run, started=started, completed=False, uses=_added(job.uses, event, run))
    elif job.completed:
        return job  # an older run has nothing to say any more
    else:
        return _checked(replace(job, uses={**_named(event, run), **job.uses}))
    return _checked(_ended(changed, run) if event.state == ENDED or changed.completed else changed)


def _ended(job: Job, run: str) -> Job:
    """The run completed: only what it named stays, if it named anything."""
    own = {use: by for use, by in job.uses.items() if by == run}
    return replace(job, completed=True, uses=own or job.uses)


def _added(uses: Mapping[Use, str], event: Event, run: str) -> dict[Use, str]:
    return {**uses, **_named(event, run)}


def _named(event: Event, run: str) -> dict[Use, str]:
    pairs: Iterable[Use] = (
        *(("input", one.name) for one in event.inputs),
        *(("output", one.name) for one in event.outputs),
    )
    return dict.fromkeys(pairs, run)


def _checked(job: Job) -> Job:
    inputs, outputs = len(job.datasets("input")), len(job.datasets("output"))
    if inputs * outputs > MOST_PAIRS:
        raise BadInput(f"the job reads {inputs} datasets and writes {outputs}; at most {MOST_PAIRS} edges are kept")
    return job
