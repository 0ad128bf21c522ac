"""Reading dbt's run_results.json: what each node of one invocation did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from catalog.sources import artifact
from catalog.sources.artifact import mapping, sequence, text
from catalog.sources.manifest_types import ManifestWarning
from foundation.errors import BadInput

KNOWN_VERSIONS = (*range(1, 7), 20)


@dataclass(frozen=True, slots=True)
class NodeResult:
    """One node's result. `status` is dbt's word in lower case (success, error, skipped, pass, fail, warn, ...).

    `execution_time` is seconds as decimal text, times are RFC 3339 text as dbt wrote them; None where not told.
    """

    unique_id: str
    status: str
    rows_affected: int | None = None
    execution_time: str | None = None
    started_at: str | None = None
    completed_at: str | None = None
    message: str = ""
    failures: int | None = None
    compiled_code: str | None = None
    relation_name: str | None = None


@dataclass(frozen=True, slots=True)
class RunResults:
    """The results of one dbt invocation by unique id."""

    schema_version: str | None
    dbt_version: str
    generated_at: str
    invocation_id: str
    elapsed_time: str | None
    arguments: Mapping[str, Any]
    results: dict[str, NodeResult]
    warnings: list[ManifestWarning] = field(default_factory=list)


def read(data: bytes) -> RunResults:
    """The run results in `data`; BadInput, with one sentence, when the file is something else."""
    document = artifact.load(data, "run results")
    version = artifact.schema_version(document, "run results")
    if not isinstance(document.get("results"), list):
        raise BadInput("the run results have no list of results")
    metadata = mapping(document.get("metadata"))
    strange = artifact.strange_version(document, "run results", KNOWN_VERSIONS)
    warnings = [ManifestWarning("", strange)] if strange else []
    results = {}
    for raw in document["results"]:
        unique_id = text(mapping(raw).get("unique_id")) or text(mapping(mapping(raw).get("node")).get("unique_id"))
        if unique_id:
            results[unique_id] = _result(unique_id, mapping(raw))
        else:
            warnings.append(ManifestWarning("", "a result without a unique id was left out"))
    return RunResults(
        schema_version=version,
        dbt_version=text(metadata.get("dbt_version")),
        generated_at=text(metadata.get("generated_at")),
        invocation_id=text(metadata.get("invocation_id")),
        elapsed_time=text(document.get("elapsed_time")) or None,
        arguments=mapping(document.get("args")),
        results=results,
        warnings=warnings,
    )


def _result(unique_id: str, raw: Mapping[str, Any]) -> NodeResult:
    timing = [mapping(item) for item in sequence(raw.get("timing"))]
    execution = next((item for item in timing if item.get("name") == "execute"), timing[-1] if timing else {})
    return NodeResult(
        unique_id=unique_id,
        status=text(raw.get("status")).lower() or "unknown",
        rows_affected=_count(mapping(raw.get("adapter_response")).get("rows_affected")),
        execution_time=text(raw.get("execution_time")) or None,
        started_at=text(execution.get("started_at")) or None,
        completed_at=text(execution.get("completed_at")) or None,
        message=text(raw.get("message")),
        failures=_count(raw.get("failures")),
        compiled_code=text(raw.get("compiled_code")) or text(raw.get("compiled_sql")) or None,
        relation_name=text(raw.get("relation_name")) or None,
    )


def _count(value: object) -> int | None:
    """A count of rows; some adapters write it as text, and -1 where they do not know it."""
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
