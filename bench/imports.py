"""Importing a manifest of 5,000 models with ten columns each: the first time, again unchanged, and the reading alone.

Seconds are those of the service, database and stored file included; the peer is what the same bytes cost orjson.loads,
with the garbage collector as each finds it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from bench import dbt_project
from bench._measure import database, forget_peak, line, seconds
from catalog.services.imports import import_manifest
from catalog.sources import manifest
from foundation.audit import Actor
from foundation.bulk import patient
from foundation.people import system

MODELS = 5000
CHANGED = 50
FLOORS = {"read manifest/orjson.loads": 0.3}
"""Reading a manifest may cost about three times what parsing its JSON does."""


def run() -> Iterable[dict[str, Any]]:
    data = dbt_project.manifest(MODELS)
    with patient():
        parsed = seconds(lambda: orjson.loads(data))
        forget_peak()
        read = seconds(lambda: manifest.read(data))
    yield line("read manifest", MODELS, read, against="orjson.loads", other=parsed)
    files = {
        "unchanged": [dbt_project.manifest(MODELS, stamp=f"run {number}") for number in range(7)],
        f"{CHANGED} changed": [dbt_project.manifest(MODELS, changed=CHANGED * (number % 2)) for number in (1, 2, 3)],
    }
    for engine in ("sqlite", "postgres"):
        yield from _engine(engine, data, files, parsed)


def _engine(engine: str, data: bytes, files: dict[str, list[bytes]], parsed: float) -> Iterable[dict[str, Any]]:
    with database(engine):
        actor = Actor(system("cli"), "cli")
        forget_peak()
        projects = iter(("first", "second", "third"))
        took = seconds(lambda: import_manifest(data, project=next(projects), actor=actor), times=3)
        yield line(f"import first, {engine}", MODELS, took, against="orjson.loads", other=parsed)
        for name, versions in files.items():
            turn = iter(versions)
            took = seconds(lambda: import_manifest(next(turn), project="third", actor=actor), times=len(versions))  # noqa: B023
            yield line(f"import {name}, {engine}", MODELS, took, against="orjson.loads", other=parsed)
