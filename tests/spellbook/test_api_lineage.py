"""The OpenLineage receiver as producers meet it: answers, limits, refusals; the worker reads what came."""

from __future__ import annotations

import gzip
import json
import time
from datetime import datetime
from typing import Any

import pytest

from catalog.models import EdgeClaim, LineageEvent
from spellbook import tasks
from spellbook.api import lineage as endpoint
from spellbook.beat import BEATS
from tests.catalog.openlineage import WH, at, dataset, dataset_event, job_event, run_event
from tests.spellbook.machines import Machine

pytestmark = pytest.mark.django_db


@pytest.fixture
def machine(db: None) -> Machine:
    return Machine.make(scopes=["lineage:write"])


def load(minute: int = 0, **more: Any) -> dict[str, Any]:
    return run_event("COMPLETE", at(minute), inputs=["shop.public.raw"], outputs=["shop.public.orders"], **more)


def post(machine: Machine, body: Any, path: str = "", **headers: str) -> tuple[int, Any]:
    """Bytes are sent as they are, everything else as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = machine.client.post(
        f"/api/v1/lineage{path}", data, content_type="application/json", headers={**machine.headers, **headers}
    )
    return answer.status_code, answer.json()


def message(answer: tuple[int, Any], status: int) -> str:
    assert (answer[0], set(answer[1])) == (status, {"error", "message"}), answer
    return str(answer[1]["message"])


def test_an_event_is_answered_with_201_and_counted_once(machine: Machine) -> None:
    assert post(machine, load()) == (201, {"events": 1, "created": 1})
    assert post(machine, load()) == (201, {"events": 1, "created": 0})
    row = LineageEvent.objects.get()
    assert (row.received_by, row.kind, row.processed_at) == (machine.agent, "run", None)
    assert json.loads(bytes(row.body)) == load()


def test_run_job_and_dataset_events_are_taken_alone_and_as_a_list(machine: Machine) -> None:
    bodies = [load(), job_event(at(1), inputs=["a.b.c"]), dataset_event(at(2), "a.b.c")]
    for body in bodies:
        assert post(machine, body)[0] == 201
    assert post(machine, bodies, "/batch") == (201, {"events": 3, "created": 0})
    assert post(machine, []) == (201, {"events": 0, "created": 0})
    assert set(LineageEvent.objects.values_list("kind", flat=True)) == {"run", "job", "dataset"}


def test_a_list_with_one_bad_event_is_refused_whole(machine: Machine) -> None:
    told = message(post(machine, [load(), {"run": {}}, load(1)]), 422)
    assert told.casefold().startswith("event 2 of the list:")
    assert not LineageEvent.objects.exists()


def test_a_gzipped_body_is_read(machine: Machine) -> None:
    packed = gzip.compress(json.dumps(load()).encode())
    assert post(machine, packed, **{"Content-Encoding": "gzip"}) == (201, {"events": 1, "created": 1})


@pytest.mark.parametrize(
    ("body", "encoding", "words"),
    [
        (b"", "", "not JSON"),
        (b"{", "", "not JSON"),
        (b"\xff", "", "not JSON"),
        (b"[NaN]", "", "not JSON"),
        (b'"x"', "", "JSON object"),
        (b"1", "", "JSON object"),
        (b"[[]]", "", "JSON object"),
        (b"{}", "", "none of them"),
        (b'{"run": "\\ud800"}', "", "not JSON"),
        (b"plain", "gzip", "it is not"),
        (gzip.compress(b"{}", mtime=0)[:-9], "gzip", "gzip"),
        (b"{}", "br", "is not read here"),
        (b"[" * 100_000, "", "not JSON"),
        (b'{"a":' * 100_000, "", "not JSON"),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_what_is_no_event_is_refused_in_words(body: bytes, encoding: str, words: str, machine: Machine) -> None:
    headers = {"Content-Encoding": encoding} if encoding else {}
    assert words in message(post(machine, body, **headers), 422)
    assert not LineageEvent.objects.exists()


def test_a_body_over_the_limit_is_refused_packed_or_not(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert endpoint.LARGEST == 10 * 1024 * 1024
    monkeypatch.setattr(endpoint, "LARGEST", 5000)
    big = json.dumps(load()).encode() + b" " * 5000
    assert "larger than 10 MB" in message(post(machine, big), 422)
    packed = gzip.compress(big)
    assert "larger than 10 MB" in message(post(machine, packed, **{"Content-Encoding": "gzip"}), 422)


def test_a_body_of_three_megabytes_is_taken(machine: Machine) -> None:
    wide = {"fields": [{"name": f"column_{n}", "type": "text", "description": "x" * 1000} for n in range(3000)]}
    body = load()
    body["outputs"] = [dataset("shop.public.orders", schema=wide)]
    assert post(machine, body)[0] == 201


def test_too_many_events_at_once_are_refused(machine: Machine) -> None:
    assert "At most 1000 events" in message(post(machine, [load()] * 1001), 422)


@pytest.mark.parametrize("place", ["job", "run", "dataset", "facet", "producer"])
def test_a_null_character_anywhere_is_no_fault(place: str, machine: Machine) -> None:
    body = load()
    if place == "job":
        body["job"]["name"] = "a\0b"
    elif place == "run":
        body["run"]["runId"] = "a\0b"
    elif place == "dataset":
        body["inputs"][0]["name"] = "a\0b"
    elif place == "facet":
        body["outputs"] = [
            dataset(
                "shop.public.orders", documentation={"description": "a\0b"}, ownership={"owners": [{"name": "a\0b"}]}
            )
        ]
    else:
        body["producer"] = "a\0b"
    status, _ = post(machine, body)
    assert status == (201 if place in ("facet", "producer") else 422)
    if status == 201:
        tasks.read_lineage()
        assert LineageEvent.objects.get().refusal == ""
        assert EdgeClaim.objects.count() == 1


def test_the_scope_is_asked_for(machine: Machine) -> None:
    other = Machine.make(scopes=["build:write"], name="other")
    assert "lineage:write" in message(post(other, load()), 403)
    answer = machine.client.post("/api/v1/lineage", b"{}", content_type="application/json")
    assert answer.status_code == 401


def test_an_agent_writes_in_its_namespaces_only() -> None:
    bound = Machine.make(scopes=["lineage:write"], namespaces=["duckdb://own"], name="bound")
    assert WH in message(post(bound, load()), 403)
    assert not LineageEvent.objects.exists()


def test_the_worker_reads_what_came(machine: Machine) -> None:
    post(machine, [load(n, run=f"r{n}") for n in range(3)])
    assert tasks.read_lineage() == 3
    assert EdgeClaim.objects.filter(removed_in=None).count() == 1
    assert tasks.read_lineage() == 0
    assert "work.lineage" in {beat.task for beat in BEATS}
    assert isinstance(LineageEvent.objects.first().processed_at, datetime)  # type: ignore[union-attr]


def test_the_address_takes_no_other_method(machine: Machine) -> None:
    answer = machine.client.get("/api/v1/lineage", headers=machine.headers)
    assert (answer.status_code, answer.json()["error"]) == (405, "not_allowed")


def test_an_event_that_cannot_be_kept_or_is_far_too_long_is_refused_at_once(machine: Machine) -> None:
    deep: dict[str, Any] = {}
    for _ in range(400):
        deep = {"x": deep}
    body = load()
    body["outputs"] = [dataset("shop.public.orders", deep=deep)]
    assert "nested too deeply" in message(post(machine, body), 422)
    began = time.monotonic()
    many = load() | {"inputs": [{"namespace": WH, "name": f"a.b.c{number}"} for number in range(60_000)]}
    assert "lists 60000 inputs" in message(post(machine, many), 422)
    assert time.monotonic() - began < 5  # the check against the schema took 47 seconds of it
    assert not LineageEvent.objects.exists()


def test_what_follows_the_gzip_of_a_body_is_not_dropped_in_silence(machine: Machine) -> None:
    twice = gzip.compress(json.dumps([load()]).encode()) + gzip.compress(b"[]")
    answer = post(machine, twice, **{"Content-Encoding": "gzip"})
    assert "one member" in message(answer, 422)
