"""Reading dbt's sources.json: how fresh each source was when `dbt source freshness` looked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from catalog.sources import artifact
from catalog.sources.artifact import mapping, text
from catalog.sources.manifest_types import ManifestWarning
from foundation.errors import BadInput

KNOWN_VERSIONS = (1, 2, 3, 20)
_SECONDS: Final = {"minute": 60, "hour": 3600, "day": 86400}
_LONGEST: Final = 2**31  # counts; an age of thousands of years is a mistake


@dataclass(frozen=True, slots=True)
class SourceFreshness:
    """One source. `status` is dbt's word in lower case (pass, warn, error, runtime error), times are RFC 3339 text.

    `seconds` is the age of the newest row when dbt looked, as decimal text; None where dbt could not tell.
    `warn_after` and `error_after` are the ages, in seconds, from which dbt warns and fails; None for none.
    """

    unique_id: str
    status: str
    max_loaded_at: str | None = None
    snapshotted_at: str | None = None
    seconds: str | None = None
    warn_after: int | None = None
    error_after: int | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class FreshnessFile:
    """What one `dbt source freshness` found, by unique id."""

    schema_version: str | None
    generated_at: str
    results: dict[str, SourceFreshness]
    warnings: list[ManifestWarning] = field(default_factory=list)


def read(data: bytes) -> FreshnessFile:
    """The freshness in `data`; BadInput, with one sentence, when the file is something else."""
    document = artifact.load(data, "sources")
    version = artifact.schema_version(document, "sources")
    found = document.get("results")
    if found is None:
        found = document.get("sources")  # the oldest form: an object by unique id
    if not isinstance(found, list | dict):
        raise BadInput("the sources file has no results")
    warnings: list[ManifestWarning] = []
    strange = artifact.strange_version(document, "sources file", KNOWN_VERSIONS)
    if strange:
        warnings.append(ManifestWarning("", strange))
    results: dict[str, SourceFreshness] = {}
    for key, raw in artifact.objects(found):
        unique_id = text(mapping(raw).get("unique_id")) or key
        if unique_id and isinstance(raw, dict):
            results[unique_id] = _result(unique_id, raw)
        else:
            warnings.append(ManifestWarning(unique_id, "a freshness without a unique id was left out"))
    return FreshnessFile(version, text(mapping(document.get("metadata")).get("generated_at")), results, warnings)


def _result(unique_id: str, raw: Mapping[str, Any]) -> SourceFreshness:
    return SourceFreshness(
        unique_id=unique_id,
        status=text(raw.get("status") or raw.get("state")).lower() or "unknown",
        max_loaded_at=text(raw.get("max_loaded_at")) or None,
        snapshotted_at=text(raw.get("snapshotted_at")) or None,
        seconds=text(raw.get("max_loaded_at_time_ago_in_s")) or None,
        warn_after=_age(mapping(raw.get("criteria")).get("warn_after")),
        error_after=_age(mapping(raw.get("criteria")).get("error_after")),
        message=text(raw.get("error")) or text(raw.get("message")),
    )


def _age(raw: object) -> int | None:
    """Seconds of dbt's {count, period}; None where one of them is missing or odd."""
    count, unit = artifact.integer(mapping(raw).get("count")), _SECONDS.get(text(mapping(raw).get("period")))
    return count * unit if count is not None and unit is not None and 0 <= count <= _LONGEST else None
