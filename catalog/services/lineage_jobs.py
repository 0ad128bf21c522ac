"""The rows of jobs: what their runs add up to, loaded, brought up to date with events, and kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.db.models import Q

from catalog.models import LineageDataset, LineageEvent, LineageJob, LineageUse
from catalog.services import lineage_datasets
from catalog.services.access import permit
from catalog.services.lineage_runs import Runs
from catalog.sources.naming import DatasetName
from catalog.sources.openlineage import jobs
from catalog.sources.openlineage.events import ENDED, FAILED
from catalog.sources.openlineage.jobs import Job
from foundation import bulk
from foundation.errors import BadInput, NotAllowed

if TYPE_CHECKING:
    from catalog.services.lineage_batch import Told

CHUNK = 200


@dataclass
class Jobs:
    """The jobs that a batch tells of: as they were, as they are now, and which events say nothing and why."""

    before: dict[DatasetName, Job]
    now: dict[DatasetName, Job]
    refusals: dict[LineageEvent, str] = field(default_factory=dict)


def after(told: Sequence[Told], runs: Runs, spaces: Mapping[DatasetName, str]) -> Jobs:
    """The jobs of these events with all of them known; `spaces` is the namespace here of each dataset named."""
    before, homes = _load({one.event.job for one in told if one.event.job})
    found = Jobs(before, dict(before))
    runs.know(by for job in before.values() for by in job.uses.values())
    for one in told:
        if one.event.job is None:
            continue
        standing = found.now.get(one.event.job, Job())
        try:
            _permit(one, standing, {**homes, **spaces})
            found.now[one.event.job] = _told(standing, one, runs)
            runs.hear(one.event)
        except (BadInput, NotAllowed) as error:
            found.refusals[one.row] = str(error)
    return found


def _told(job: Job, one: Told, runs: Runs) -> Job:
    run = one.event.run
    if run in runs.failed and one.event.state not in (ENDED, *FAILED):
        return job  # it came late: the run has failed
    started = min(runs.starts.get(run, one.row.at), one.row.at)
    return jobs.after(job, one.event, started, named=runs.named(run), starts=runs.starts)


def keep(found: Jobs, told: Mapping[DatasetName, LineageDataset]) -> set[int]:
    """Write the jobs that changed; the ids of the assets of those that use other datasets than before.

    `told` are the datasets that the batch names; a run that completed may have named others before.
    """
    changed = {name: job for name, job in found.now.items() if job != found.before.get(name)}
    rows = _rows(changed)
    named = {name for job in changed.values() for _, name in job.uses}
    datasets = {**lineage_datasets.existing(named - told.keys()), **told}
    standing: dict[int, dict[tuple[str, DatasetName], LineageUse]] = defaultdict(dict)
    for use in _uses([row.pk for row in rows.values()]):
        standing[use.job_id][use.role, DatasetName(use.dataset.namespace, use.dataset.name)] = use
    gone, restamped, new = [], [], []
    for name, job in changed.items():
        old = standing[rows[name].pk]
        gone += [use for key, use in old.items() if key not in job.uses]
        for (role, dataset), by in job.uses.items():
            known = old.get((role, dataset))
            if known is None:
                new.append(LineageUse(job=rows[name], dataset=datasets[dataset], role=role, by=by))
            elif known.by != by:
                known.by = by
                restamped.append(known)
    LineageUse.objects.filter(pk__in=bulk.among([use.pk for use in gone])).delete()
    bulk.update(LineageUse, ["by"], [(use.pk, use.by) for use in restamped])
    LineageUse.objects.bulk_create(new, batch_size=CHUNK)
    other = {use.job_id for use in (*gone, *new)}
    kept = [use.dataset.asset_id for job in other for use in standing[job].values()]
    return {*kept, *(use.dataset.asset_id for use in new)}


def _permit(one: Told, standing: Job, spaces: Mapping[DatasetName, str]) -> None:
    """A sender writes in its namespaces only, and takes nothing back from a job that writes elsewhere."""
    names = {dataset.name for dataset in one.event.written} | standing.datasets("output")
    for space in {spaces[name] for name in names}:
        permit(one.sender, space)


def _load(names: Iterable[DatasetName]) -> tuple[dict[DatasetName, Job], dict[DatasetName, str]]:
    """The jobs of these names, and the namespace here of each dataset that they use."""
    rows = _existing(names)
    by_pk = {row.pk: name for name, row in rows.items()}
    uses: dict[DatasetName, dict[jobs.Use, str]] = defaultdict(dict)
    homes: dict[DatasetName, str] = {}
    for use in _uses(list(by_pk)):
        dataset = DatasetName(use.dataset.namespace, use.dataset.name)
        role: jobs.Role = "output" if use.role == "output" else "input"
        uses[by_pk[use.job_id]][role, dataset] = use.by
        homes[dataset] = use.dataset.asset.namespace
    found = {
        name: Job(row.run, row.started, uses[name]) if row.completed else Job(uses=uses[name])
        for name, row in rows.items()
    }
    return found, homes


def _rows(changed: Mapping[DatasetName, Job]) -> dict[DatasetName, LineageJob]:
    rows = _existing(changed)
    now = [(row.pk, changed[name].run, changed[name].started, changed[name].completed) for name, row in rows.items()]
    bulk.update(LineageJob, ["run", "started", "completed"], now)
    new = [
        LineageJob(namespace=name.namespace, name=name.name, run=job.run, started=job.started, completed=job.completed)
        for name, job in changed.items()
        if name not in rows
    ]
    LineageJob.objects.bulk_create(new, batch_size=CHUNK)
    return rows | {DatasetName(row.namespace, row.name): row for row in new}


def _existing(names: Iterable[DatasetName]) -> dict[DatasetName, LineageJob]:
    spaces: dict[str, list[str]] = defaultdict(list)
    for space, name in names:
        spaces[space].append(name)
    wanted = Q(pk__in=[])
    for space, inside in spaces.items():
        wanted |= Q(namespace=space, name__in=inside)
    return {DatasetName(row.namespace, row.name): row for row in LineageJob.objects.filter(wanted)}


def _uses(pks: Sequence[int]) -> list[LineageUse]:
    return list(LineageUse.objects.filter(job__in=bulk.among(pks)).select_related("dataset__asset"))
