"""OpenLineage events: keeping them, reading them in batches, and how long a batch keeps the graph locked.

A graph of 2,000 jobs whose next night comes in: of each job a START and a COMPLETE with three inputs, an output with
twenty columns; one job in ten has another input than the night before. The peer checks each event against the whole
published schema, as a receiver does that does not look first which of the three events it is.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from jsonschema import Draft202012Validator

from bench._measure import database, expect, forget_peak, line, seconds
from catalog.models import EdgeClaim, LineageEvent
from catalog.services import lineage_batch, lineage_events
from catalog.sources.openlineage.schema import check, published
from foundation.audit import Actor
from foundation.locks import transaction
from foundation.people import system

JOBS = 2_000
COLUMNS = 20
CHECKED = 200
TOGETHER = 100  # events in one request
FLOORS = {"openlineage check/whole schema": 1.0}


def run() -> Iterable[dict[str, Any]]:
    """Lines for both engines."""
    events = [event for job in range(CHECKED) for event in _events(job, 0)]
    peer = Draft202012Validator(published())
    ours = seconds(lambda: [check(event) for event in events], 3)
    whole = seconds(lambda: [peer.is_valid(event) for event in events], 3)
    yield line("openlineage check", len(events), ours, against="whole schema", other=whole)
    for engine in ("sqlite", "postgres"):
        with database(engine):
            yield from _measured(engine)


def _measured(engine: str) -> Iterator[dict[str, Any]]:
    actor = Actor(system("bench"), "cli")
    _keep(actor, night=0)
    _read(actor)
    forget_peak()
    yield line(f"openlineage {engine} keep", 2 * JOBS, _keep(actor, night=1))
    held: list[float] = []
    with _watched(held):
        took = _read(actor)
    yield line(f"openlineage {engine} read", 2 * JOBS, took)
    yield line(f"openlineage {engine} longest lock", lineage_events.BATCH, max(held))
    expect(EdgeClaim.objects.filter(removed_in=None).count() == 3 * JOBS, "the edges are not those of the last night")


def _keep(actor: Actor, *, night: int) -> float:
    events = [event for job in range(JOBS) for event in _events(job, night)]
    start = time.perf_counter()
    for first in range(0, len(events), TOGETHER):
        lineage_events.receive(events[first : first + TOGETHER], actor=actor)
    return time.perf_counter() - start


def _read(actor: Actor) -> float:
    start = time.perf_counter()
    while lineage_events.process_due(1000, actor=actor):
        pass
    took = time.perf_counter() - start
    expect(not LineageEvent.objects.exclude(refusal="").exists(), "an event was refused")
    return took


@contextmanager
def _watched(held: list[float]) -> Iterator[None]:
    """Note how long each batch held its transaction."""

    @contextmanager
    def timed(*, durable: bool = False) -> Iterator[None]:
        start = time.perf_counter()
        with transaction(durable=durable):
            yield
        held.append(time.perf_counter() - start)

    with mock.patch.object(lineage_batch, "transaction", timed):
        yield


def _events(job: int, night: int) -> Iterator[dict[str, Any]]:
    changed = 5 * JOBS if night and job % 10 == 0 else 4 * JOBS
    inputs = [_dataset(one) for one in (JOBS + job // 2, 2 * JOBS + job // 10, changed + job)]
    for state, minute in (("START", 0), ("COMPLETE", 5)):
        yield {
            "eventType": state,
            "eventTime": f"2026-03-{night + 1:02}T10:{minute:02}:00Z",
            "producer": "https://example.com/producer",
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
            "run": {"runId": f"00000000-0000-4000-8000-{night:04}{job:08}"},
            "job": {"namespace": "https://airflow.example.com", "name": f"nightly.t{job}"},
            "inputs": inputs,
            "outputs": [_dataset(job, columns=COLUMNS)],
        }


def _dataset(number: int, columns: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {"namespace": "postgres://db.example.com:5432", "name": f"shop.public.t{number}"}
    if columns:
        fields = [{"name": f"column_{place}", "type": "text", "description": "One value"} for place in range(columns)]
        found["facets"] = {
            "schema": {"_producer": "https://x.example", "_schemaURL": "https://x.example", "fields": fields}
        }
    return found
