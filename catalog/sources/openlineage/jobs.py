"""What the runs of one job add up to: the datasets that it reads and writes now.

The newest run that completed speaks for its job: what it did not name goes. A newer run that goes on adds to that for
the time being; when it fails or is aborted, what it added goes again, since it may have written nothing, and it hides
no other run. A run that named no dataset at all says nothing: a producer that could not look into a run sends just
that. Events may come twice and in any order. States: https://openlineage.io/docs/spec/run-cycle
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from catalog.sources.naming import DatasetName
from catalog.sources.openlineage.events import ENDED, FAILED, MOST_PAIRS, Event
from foundation.errors import BadInput

Role = Literal["input", "output"]
Use: TypeAlias = tuple[Role, DatasetName]

STATIC: Final = "job event"
"""In the place of a run's id, with its moment, for what a job event says: of the job's code, not of a run."""

NOTHING: Final[Mapping[str, datetime]] = MappingProxyType({})


@dataclass(frozen=True)
class Job:
    """A job's newest completed run ("": none yet; `started`: its first event), and which run named each use: that one,
    or one that goes on."""

    run: str = ""
    started: datetime | None = None
    uses: Mapping[Use, str] = field(default_factory=dict)

    @property
    def completed(self) -> bool:
        return bool(self.run)

    def datasets(self, role: Role) -> frozenset[DatasetName]:
        return frozenset(name for one, name in self.uses if one == role)


def after(
    job: Job,
    event: Event,
    started: datetime,
    *,
    named: Collection[Use] = (),
    starts: Mapping[str, datetime] = NOTHING,
) -> Job:
    """`job` when `event` is known too; `started` is when the event's run began, as far as its events tell.

    `named` is what other events of the run named, `starts` when the runs that `job.uses` holds began; one that is not
    there is old. BadInput when the job would make more than 5,000 edges.
    """
    run = event.run or f"{STATIC} {event.at.isoformat()}"
    if event.state in FAILED or (job.started is not None and started < job.started and run != job.run):
        return job if run == job.run else _without(job, run)
    if run == job.run:
        uses = {**job.uses, **dict.fromkeys(uses_of(event), run)}
        return _checked(_settled(replace(job, started=min(started, job.started or started), uses=uses), starts))
    if event.state == ENDED:
        own = dict.fromkeys([*uses_of(event), *named], run)
        return _checked(_settled(Job(run, started, {**job.uses, **own}), starts))
    return _checked(replace(job, uses={**dict.fromkeys(uses_of(event), run), **job.uses}))


def uses_of(event: Event) -> list[Use]:
    """What one event names."""
    inputs: Iterable[Use] = (("input", one.name) for one in event.inputs)
    return [*inputs, *(("output", one.name) for one in event.outputs)]


def _without(job: Job, run: str) -> Job:
    return replace(job, uses={use: by for use, by in job.uses.items() if by != run})


def _settled(job: Job, starts: Mapping[str, datetime]) -> Job:
    """Beside what the completed run named, if it named anything, stays what newer runs name that go on."""
    if job.run not in job.uses.values() or job.started is None:
        return job
    newer = {run for run, started in starts.items() if started > job.started}
    return replace(job, uses={use: by for use, by in job.uses.items() if by == job.run or by in newer})


def _checked(job: Job) -> Job:
    inputs, outputs = len(job.datasets("input")), len(job.datasets("output"))
    if inputs * outputs > MOST_PAIRS:
        raise BadInput(f"the job reads {inputs} datasets and writes {outputs}; at most {MOST_PAIRS} edges are kept")
    return job
