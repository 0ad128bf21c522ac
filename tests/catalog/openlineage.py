"""OpenLineage events for tests, as producers write them."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

PRODUCER = "https://example.com/producer/1.0"
SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json"
WH = "postgres://db.example.com:5432"
JOBS = "https://airflow.example.com"


def facet(**fields: Any) -> dict[str, Any]:
    return {"_producer": PRODUCER, "_schemaURL": f"{SCHEMA}#/$defs/BaseFacet", **fields}


def dataset(name: str, space: str = WH, **facets: Mapping[str, Any]) -> dict[str, Any]:
    """A dataset; each keyword is a facet's fields."""
    found = {key: facet(**fields) for key, fields in facets.items()}
    return {"namespace": space, "name": name, **({"facets": found} if found else {})}


def schema(*columns: tuple[str, str]) -> dict[str, Any]:
    return {"fields": [{"name": name, "type": data_type} for name, data_type in columns]}


def base(at: str) -> dict[str, Any]:
    return {"eventTime": at, "producer": PRODUCER, "schemaURL": f"{SCHEMA}#/$defs/RunEvent"}


def run_id(seed: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, seed))


def run_event(
    state: str,
    at: str,
    *,
    run: str = "one",
    job: str = "load",
    inputs: Iterable[Any] = (),
    outputs: Iterable[Any] = (),
    space: str = JOBS,
) -> dict[str, Any]:
    """A run event; inputs and outputs are names or whole datasets."""
    return base(at) | {
        "eventType": state,
        "run": {"runId": run_id(run)},
        "job": {"namespace": space, "name": job},
        "inputs": [_whole(one) for one in inputs],
        "outputs": [_whole(one) for one in outputs],
    }


def job_event(at: str, *, job: str = "load", inputs: Iterable[Any] = (), outputs: Iterable[Any] = ()) -> dict[str, Any]:
    body = run_event("COMPLETE", at, job=job, inputs=inputs, outputs=outputs)
    return {key: value for key, value in body.items() if key not in ("run", "eventType")}


def dataset_event(at: str, one: Any) -> dict[str, Any]:
    return base(at) | {"dataset": _whole(one)}


def at(minute: int, day: int = 1) -> str:
    return f"2026-03-{day:02}T10:{minute:02}:00Z"


def _whole(one: Any) -> dict[str, Any]:
    return dataset(one) if isinstance(one, str) else dict(one)
