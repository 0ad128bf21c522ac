"""What one event says, in plain values; everything that the tables could not hold is refused in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from catalog.sources.artifact import mapping, sequence
from catalog.sources.naming import DatasetName, canonical, printable
from catalog.sources.openlineage.schema import Kind, check
from foundation.errors import BadInput

NAMESPACE: Final = 300
NAME: Final = 500
JOB_NAME: Final = 700  # Spark builds the names of jobs from plans
INDEXED: Final = 2500  # bytes; PostgreSQL takes no longer keys
MOST_DATASETS: Final = 1000
MOST_LISTED: Final = 2 * MOST_DATASETS  # one that is named twice counts once
MOST_PAIRS: Final = 5_000  # each input feeds each output
ENDED: Final = "COMPLETE"
FAILED: Final = frozenset({"FAIL", "ABORT"})


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset as the producer names it, with the facets that the event carries."""

    name: DatasetName
    facets: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `state` is the run's (START, RUNNING, COMPLETE, ABORT, FAIL, OTHER), "" where none is given.

    `at` is UTC. `run` is "" for job and dataset events, `job` None for dataset events, `described` the dataset that a
    dataset event is about.
    """

    kind: Kind
    at: datetime
    job: DatasetName | None = None
    run: str = ""
    state: str = ""
    inputs: tuple[Dataset, ...] = ()
    outputs: tuple[Dataset, ...] = ()
    described: Dataset | None = None

    @property
    def written(self) -> tuple[Dataset, ...]:
        """The datasets that the sender wrote, or describes as its own: a run that failed says nothing of any."""
        return () if self.state in FAILED else (*self.outputs, *((self.described,) if self.described else ()))


def read(document: object, kind: Kind | None = None) -> Event:
    """The event that `document` (parsed JSON) is; BadInput, in one sentence, when it is none or cannot be kept.

    `kind` is given for one that was checked before, since the check takes longer than all the rest.
    """
    if kind is None:
        _refuse_too_long(document)
        kind = check(document)
    body = mapping(document)
    if kind == "dataset":
        return Event(kind, _moment(body["eventTime"]), described=_dataset(body["dataset"]))
    job = mapping(body["job"])
    event = Event(
        kind,
        _moment(body["eventTime"]),
        job=_pair("job", job, JOB_NAME),
        run=_run(body) if kind == "run" else "",
        state=str(body.get("eventType") or "") if kind == "run" else ENDED,
        inputs=tuple(_datasets(body, "inputs")),
        outputs=() if _is_test(job) else tuple(_datasets(body, "outputs")),
    )
    _refuse_too_many(len(event.inputs), len(event.outputs))
    return event


def _is_test(job: Mapping[str, Any]) -> bool:
    """Whether the job only looks: as its output dbt's logs name the table in which a test could keep failures."""
    kind = mapping(mapping(job.get("facets")).get("jobType")).get("jobType")
    return isinstance(kind, str) and kind.upper() == "TEST"


def _refuse_too_long(document: object) -> None:
    """Ahead of the check against the schema, which takes most of a second for each thousand datasets."""
    for role in ("inputs", "outputs"):
        listed = mapping(document).get(role)
        if isinstance(listed, list) and len(listed) > MOST_LISTED:
            raise BadInput(f"the event lists {len(listed)} {role}; at most {MOST_DATASETS} are taken")


def _refuse_too_many(inputs: int, outputs: int) -> None:
    if inputs * outputs > MOST_PAIRS:
        raise BadInput(
            f"the event names {inputs} inputs and {outputs} outputs, which would be {inputs * outputs} edges; "
            f"at most {MOST_PAIRS} are taken from one job"
        )


def _moment(text: str) -> datetime:
    """A moment in UTC; one without a zone, as old clients write it, counts as UTC."""
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadInput(f"the eventTime {printable(text)[:60]!r} is not a date and time") from None


def _run(body: Mapping[str, Any]) -> str:
    text = str(body["run"]["runId"])
    try:
        return str(UUID(text))
    except ValueError:
        raise BadInput(f"the runId {printable(text)[:60]!r} is not a UUID") from None


def _datasets(body: Mapping[str, Any], role: str) -> Iterator[Dataset]:
    """Each dataset once: where an event names one twice, its facets come together."""
    found: dict[DatasetName, dict[str, Any]] = {}
    for item in sequence(body.get(role)):
        dataset = _dataset(item)
        found.setdefault(dataset.name, {}).update(dataset.facets)
    if len(found) > MOST_DATASETS:
        raise BadInput(f"the event names {len(found)} {role}; at most {MOST_DATASETS} are taken")
    return (Dataset(name, facets) for name, facets in found.items())


def _dataset(item: Mapping[str, Any]) -> Dataset:
    name = _pair("dataset", item, NAME)
    canonical(*name)  # refuses what no table can be called
    return Dataset(name, mapping(item.get("facets")))


def _pair(what: str, item: Mapping[str, Any], longest: int) -> DatasetName:
    pair = DatasetName(
        _name(f"namespace of a {what}", item, NAMESPACE),
        _name(f"name of a {what}", item, longest),
    )
    if len("".join(pair).encode()) > INDEXED:
        raise BadInput(f"namespace and name of a {what} have more than {INDEXED} bytes together")
    return pair


def _name(what: str, item: Mapping[str, Any], longest: int) -> str:
    text = str(item[what.partition(" ")[0]])
    if not text.strip():
        raise BadInput(f"the {what} is empty")
    if len(text) > longest:
        raise BadInput(f"the {what} has more than {longest} characters")
    if not text.isprintable():
        raise BadInput(f"the {what} holds characters that cannot be printed")
    return text
