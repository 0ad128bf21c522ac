"""What may be announced about a build; everything else is refused with BadInput, before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from catalog.models.builds import KINDS, STATUSES
from catalog.sources import catalog_file, freshness, manifest, run_results
from foundation.errors import BadInput

READERS: Final[Mapping[str, Callable[[bytes], Any]]] = {
    "manifest": manifest.read,
    "run_results": run_results.read,
    "catalog": catalog_file.read,
    "sources": freshness.read,
}
LONGEST: Final = {"key": 300, "producer": 200, "commit": 64, "repository": 500, "connection": 200, "project": 180}
KNOWN_ONLY_BY_NAME: Final = "unknown"
LARGEST: Final = 2**53 - 1  # what JSON carries exactly, and sums of it fit into the tables
MOST_OUTPUTS: Final = 1000  # each is looked for by name, one build after the other
AHEAD: Final = timedelta(minutes=5)  # clocks of other machines run a little fast


def facts_of(facts: Mapping[str, Any], outputs: Sequence[str]) -> dict[str, Any]:
    """The facts as they are kept, the named outputs among them."""
    plain = {name: value for name, value in facts.items() if name != "outputs"}
    for name, value in plain.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | str)):
            raise BadInput(f"The fact {name} of a build is neither a whole number nor text.")
        if isinstance(value, int) and abs(value) > LARGEST:
            raise BadInput(f"The fact {name} of a build is too large.")
        if "\0" in name or (isinstance(value, str) and "\0" in value):
            raise BadInput("The facts of a build hold a null character.")
    if len(outputs) > MOST_OUTPUTS:
        raise BadInput(f"A build names at most {MOST_OUTPUTS} outputs, not {len(outputs)}.")
    if not all(isinstance(name, str) and name.strip() and len(name) <= 800 and "\0" not in name for name in outputs):
        raise BadInput("The outputs of a build are names of assets.")
    return plain | ({"outputs": list(dict.fromkeys(outputs))} if outputs else {})


def check(key: str, fields: Mapping[str, Any], moment: datetime) -> None:
    """Refuse fields that the tables cannot hold, that contradict each other, or that tell of what is still to come."""
    check_key(key)
    for name in ("producer", "commit", "repository", "connection", "project"):
        _check_text(name, fields[name])
    if fields["kind"] not in KINDS or fields["kind"] == KNOWN_ONLY_BY_NAME:
        known = ", ".join(kind for kind in KINDS if kind != KNOWN_ONLY_BY_NAME)
        raise BadInput(f"The kind of a build is one of {known}, not {fields['kind']!r}.")
    if fields["status"] not in STATUSES:
        raise BadInput(f"The status of a build is one of {', '.join(STATUSES)}, not {fields['status']!r}.")
    started, ended = fields["started_at"], fields["ended_at"]
    for time in filter(None, (started, ended)):
        _check_time(time, moment)
    if started is not None and ended is not None and ended < started:
        raise BadInput("The build ended before it started.")


def _check_time(time: datetime, moment: datetime) -> None:
    if time.tzinfo is None:
        raise BadInput("The times of a build need a time zone.")
    try:
        time.astimezone(UTC)
    except OverflowError:
        raise BadInput("The times of the build cannot be kept.") from None
    if time > moment + AHEAD:
        raise BadInput(f"A build that began or ended at {time.isoformat()} lies in the future.")


def check_key(key: str) -> None:
    """Refuse an empty, too long or unprintable key."""
    if not key.strip():
        raise BadInput("The key of a build is empty.")
    _check_text("key", key)


def _check_text(name: str, value: str) -> None:
    if len(value) > LONGEST[name]:
        raise BadInput(f"The {name} of a build has more than {LONGEST[name]} characters.")
    if value and not value.isprintable():
        raise BadInput(f"The {name} of a build holds characters that cannot be printed.")


def check_files(given: Mapping[str, bytes]) -> None:
    """Read every file once, so that an unusable one is refused before anything is kept."""
    for name, data in given.items():
        if name not in READERS:
            raise BadInput(f"A build has the files {', '.join(READERS)}, not {name}.")
        READERS[name](data)
