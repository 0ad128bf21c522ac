"""The difference of two manifests of 5,000 models of which 20 changed: with both read, and with the reading.

The peer is `dbt ls --select state:modified` on the same pair, in a process that is already up and has the head in hand,
so that it reads the base and selects; it has to name the same nodes.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings

from bench import dbt_project
from bench._measure import expect, forget_peak, line, seconds
from catalog.diff.manifests import diff
from catalog.sources import manifest
from foundation.bulk import patient

MODELS = 5000
CHANGED = 20
PEER = "dbt ls --select state:modified"
FLOORS = {f"diff/{PEER}": 15}


def run() -> Iterable[dict[str, Any]]:
    before, after = (
        _whole(dbt_project.manifest(MODELS)),
        _whole(dbt_project.manifest(MODELS, stamp="two", changed=CHANGED)),
    )
    listed = _dbt(before, after)
    other = min(listed["ls"])

    def compared() -> float:
        """Entries keep what was once read of them, so each comparison gets files that are freshly read."""
        base, head = manifest.read(before), manifest.read(after)
        return seconds(lambda: diff(base, head), times=1)

    with patient():
        found = diff(manifest.read(before), manifest.read(after))
        expect([one.unique_id for one in found.modified] == listed["ids"], "dbt names other nodes")
        forget_peak()
        yield line("diff", MODELS, min(compared() for _ in range(5)), against=PEER, other=other)
        both = seconds(lambda: diff(manifest.read(before), manifest.read(after)), times=5)
    yield line("read both and diff", MODELS, both, against=PEER, other=other)


def _whole(data: bytes) -> bytes:
    """The manifest with the fields that dbt itself insists on."""
    document = orjson.loads(data)
    for entry in document["sources"].values():
        entry |= {"path": "models/s.yml", "original_file_path": "models/s.yml", "source_description": "", "loader": ""}
    more = ("docs", "selectors", "saved_queries", "semantic_models", "unit_tests", "group_map", "functions")
    return orjson.dumps(document | {name: {} for name in more})


def _dbt(before: bytes, after: bytes) -> dict[str, Any]:
    folder = Path(os.environ["BENCH_FOLDER"]) / "dbt"
    (folder / "base").mkdir(parents=True)
    (folder / "base/manifest.json").write_bytes(before)
    (folder / "head.json").write_bytes(after)
    (folder / "dbt_project.yml").write_text("name: generated\nversion: '1.0'\nprofile: generated\n")
    (folder / "profiles.yml").write_text("generated: {target: dev, outputs: {dev: {type: duckdb, path: ':memory:'}}}\n")
    python = Path(settings.SPELLBOOK_DBT).with_name("python")
    words = [str(python), "-I", str(Path(__file__).with_name("_dbt_ls.py")), str(folder), str(folder / "base")]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "DBT_SEND_ANONYMOUS_USAGE_STATS": "0"}
    done = subprocess.run(
        [*words, str(folder / "head.json"), "3"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    expect(done.returncode == 0, f"dbt ls failed: {done.stdout[-500:]}{done.stderr[-500:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
