"""Ten thousand damaged manifests of the world, imported one after the other: a graph with warnings, or one refusal.

Every success is compared with what the file itself says, every refusal leaves the database as it was.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.db import transaction
from django.db.models import Count, Max, Sum
from django.db.models.functions import Length

from catalog.models import Asset, AssetRole, ColumnList, Consumer, EdgeClaim, GraphHead, GraphVersion, NodeClaim, Source
from catalog.services.imports import import_manifest
from catalog.sources import manifest
from catalog.sources.manifest import dataset_name, edges
from foundation.audit import Actor
from foundation.errors import BadInput
from foundation.models import AuditRow
from tests.catalog.dbt_files import CORPUS, needs_corpus
from tests.catalog.manifests import catalog_file, run_results, shop

TABLES = (Asset, AssetRole, AuditRow, ColumnList, Consumer, EdgeClaim, GraphHead, GraphVersion, NodeClaim, Source)
ODD: list[Any] = [
    None, 0, -1, 2**31, 10**30, 1.5, float("nan"), True, "", " ", ".", "..", "None", "model.x", "source.a.b.c",
    "x" * 5000, "\x00", "a\x00b", "\ud800", "\u202e", "💥" * 600, "https://schemas.getdbt.com/dbt/manifest/v77.json",
    [], {}, [None], {"": None}, [[]], {"nodes": None}, {"a": {"b": [1, {"c": None}]}}, {"name": None, "email": 3},
    ["a", 1, None],
]  # fmt: skip
Documents = list[dict[str, Any]]


def damage(document: dict[str, Any], chance: random.Random) -> bytes:
    """The bytes of `document` after one to five changes; now and then the bytes themselves are broken too."""
    damaged = copy.deepcopy(document)
    for _ in range(chance.randint(1, 5)):
        chance.choice(WAYS)(damaged, chance)
    data = json.dumps(damaged).encode()
    return chance.choice(BREAKS)(data, chance) if chance.random() < 0.1 else data


def _drop_or_replace(document: dict[str, Any], chance: random.Random) -> None:
    value: Any = document
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = chance.choice(keys)
        if isinstance(value[key], dict | list) and value[key] and chance.random() < 0.85:
            value = value[key]
            continue
        if isinstance(value, dict) and chance.random() < 0.4:
            del value[key]
        else:
            value[key] = copy.deepcopy(chance.choice(ODD))
        return


def _odd_field(document: dict[str, Any], chance: random.Random) -> None:
    """One field that is read becomes another thing, in one node or in all of them."""
    names = (
        "depends_on", "config", "columns", "schema", "database", "alias", "name", "relation_name", "owner", "tags",
        "unique_id", "resource_type", "package_name", "meta", "checksum", "version", "description", "group", "type",
        "quoting", "patch_path", "compiled_code", "raw_code", "identifier", "label", "original_file_path",
    )  # fmt: skip
    name, value = chance.choice(names), chance.choice(ODD)
    entries = [node for node in _entries(document) if isinstance(node, dict)]
    for node in entries if chance.random() < 0.2 else entries and [chance.choice(entries)]:
        node[name] = copy.deepcopy(value)


def _odd_parents(document: dict[str, Any], chance: random.Random) -> None:
    """Edges to anywhere: cycles, itself, what is not there."""
    nodes = document.get("nodes")
    if not isinstance(nodes, dict) or not nodes:
        return
    for _ in range(chance.randint(1, 8)):
        node = nodes[chance.choice(list(nodes))]
        if isinstance(node, dict):
            above = [chance.choice([*nodes, "model.gone.x", "metric.a.b", ""]) for _ in range(chance.randint(0, 4))]
            node["depends_on"] = {"nodes": above}


def _rename(document: dict[str, Any], chance: random.Random) -> None:
    nodes = document.get("nodes")
    if isinstance(nodes, dict) and nodes:
        key = chance.choice(list(nodes))
        nodes[chance.choice(["", "x", "model.a.b.c.d", "model..", "y" * 600, "model.a." + "é" * 480, key + ".v2"])] = (
            nodes.pop(key)
        )


def _many(document: dict[str, Any], chance: random.Random) -> None:
    """One node a hundred times, with one table or with many."""
    nodes = document.get("nodes")
    if isinstance(nodes, dict) and nodes:
        node = nodes[chance.choice(list(nodes))]
        same = chance.random() < 0.5
        for number in range(100):
            more = {} if same else {"alias": f"t{number}", "relation_name": None}
            nodes[f"model.many.m{number}"] = {**node, **more} if isinstance(node, dict) else node


def _ephemeral(document: dict[str, Any], chance: random.Random) -> None:
    for node in _entries(document):
        if isinstance(node, dict) and chance.random() < 0.4:
            node["config"] = {"materialized": "ephemeral"}


def _off(document: dict[str, Any], chance: random.Random) -> None:
    for node in _entries(document):
        if isinstance(node, dict) and chance.random() < 0.2:
            node["config"] = {"enabled": False}


def _entries(document: dict[str, Any]) -> list[Any]:
    places = (document.get(name) for name in ("nodes", "sources", "exposures", "metrics"))
    return [node for place in places if isinstance(place, dict) for node in place.values()]


WAYS: list[Callable[[dict[str, Any], random.Random], None]] = [
    _drop_or_replace, _drop_or_replace, _drop_or_replace, _odd_field, _odd_field, _odd_field, _odd_parents, _rename,
    _many, _ephemeral, _off,
]  # fmt: skip
BREAKS: list[Callable[[bytes, random.Random], bytes]] = [
    lambda data, chance: data[: chance.randrange(len(data))],
    lambda data, chance: data.replace(b"{", b"{\n<<<<<<< HEAD\n", 1),
    lambda data, chance: data.decode().encode("utf-16"),
    lambda data, chance: data.replace(b"a", b"\xff", 1),
    lambda data, chance: b"\xef\xbb\xbf" + data,
    lambda data, chance: b"",
    lambda data, chance: b"[" + data + b"]",
    lambda data, chance: data + b"}",
]


FRESH = {"unique_id": "source.shop.raw.orders", "status": "pass", "max_loaded_at": "2026-01-01T00:00:00Z"}
SIDES = {
    "catalog": catalog_file(("model.shop.orders", {"id": "BIGINT", "n": "TEXT"}), ("model.shop.revenue", {"a": "INT"})),
    "run_results": run_results(("model.shop.orders", "success", 3), ("model.shop.revenue", "error", None)),
    "sources": json.dumps({"metadata": {}, "results": [FRESH]}).encode(),
}


@cache
def documents() -> Documents:
    """The public manifests, without their macros and documents, which no import reads."""
    found = []
    for path in sorted(Path(CORPUS).glob("manifests/*.json")):
        document = json.loads(path.read_bytes())
        found.append({key: value for key, value in document.items() if key not in ("macros", "docs", "selectors")})
    return found


def state() -> list[object]:
    """The size of every table, and sums over what an import may change in place."""
    found: list[object] = [table._default_manager.count() for table in TABLES]
    for table in (NodeClaim, EdgeClaim):
        found += table._default_manager.aggregate(Sum("removed_in"), Max("pk"), Count("removed_in")).items()
    letters = {"words": Sum(Length("description")), "kinds": Sum(Length("kind"))}
    return [*found, Asset.objects.aggregate(Max("pk"), **letters)]


def standing(key: str) -> tuple[set[str], set[tuple[int, int]]]:
    nodes = NodeClaim.objects.filter(source__key=key, removed_in__isnull=True).values_list("local_id", flat=True)
    pairs = EdgeClaim.objects.filter(source__key=key, removed_in__isnull=True).values_list("from_asset", "to_asset")
    return set(nodes), set(pairs)


def check(data: bytes, actor: Actor) -> bool:
    """Import `data` as project `world`; whether it was taken."""
    before = state()
    try:
        report = import_manifest(data, project="world", namespace="duckdb://world", actor=actor)
    except BadInput as refusal:
        sentence = str(refusal)
        assert sentence
        assert "\n" not in sentence
        assert len(sentence) < 400
        assert state() == before
        return False
    agrees(data, report.assets)
    return True


def agrees(data: bytes, assets: int) -> None:
    """The graph says what the file says: every node that fits, every edge between them, nothing else."""
    read = manifest.read(data)
    names, pairs = standing("dbt:world")
    assert names <= read.nodes.keys()
    for name in read.nodes.keys() - names:  # only what no table takes is left out
        assert max(len(name), len(dataset_name(read.nodes[name], read.adapter, "duckdb://world").name)) > 500
    assert len(names) == assets
    ids = dict(
        NodeClaim.objects.filter(source__key="dbt:world", removed_in__isnull=True).values_list("local_id", "asset_id")
    )
    wanted = {(ids[a], ids[b]) for a, b in edges(read) if a in ids and b in ids}
    assert pairs == {pair for pair in wanted if pair[0] != pair[1]}


def run(first: int, count: int, actor: Actor) -> tuple[int, int]:
    taken = 0
    for seed in range(first, first + count):
        chance = random.Random(seed)  # noqa: S311 -- the same damage each time
        data = damage(chance.choice(documents()), chance)
        try:
            taken += check(data, actor)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error
    return taken, count - taken


@needs_corpus
@pytest.mark.timeout(300)
def test_some_damaged_manifests_are_taken_or_refused(machine: Actor) -> None:
    taken, refused = run(0, 150, machine)
    assert taken > 60
    assert refused > 5


@needs_corpus
@pytest.mark.prove
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("first", range(0, 10_000, 1000))
def test_ten_thousand_damaged_manifests_are_taken_or_refused(first: int, machine: Actor) -> None:
    taken, refused = run(first, 1000, machine)
    assert taken > 300
    assert refused > 30


@pytest.mark.parametrize("name", ["catalog", "run_results", "sources"])
def test_damaged_side_files_are_taken_or_refused(name: str, machine: Actor) -> None:
    whole: dict[str, Any] = orjson.loads(SIDES[name])
    outcomes = set()
    for seed in range(60):
        chance = random.Random(seed)  # noqa: S311
        damaged = copy.deepcopy(whole)
        for _ in range(chance.randint(1, 4)):
            _drop_or_replace(damaged, chance)
        before, sentence = state(), ""
        try:
            side: dict[str, Any] = {name: json.dumps(damaged).encode()}
            import_manifest(shop(stamp=str(seed)), actor=machine, **side)
        except BadInput as refusal:
            sentence = str(refusal)
        assert "\n" not in sentence
        assert not sentence or state() == before
        outcomes.add("refused" if sentence else "taken")
    assert outcomes == {"taken", "refused"}


@needs_corpus
@pytest.mark.parametrize("seed", range(40))
def test_the_same_damaged_manifest_again_changes_nothing(seed: int, machine: Actor) -> None:
    chance = random.Random(seed)  # noqa: S311
    data = damage(chance.choice(documents()), chance)
    if check(data, machine):
        before = state()
        with transaction.atomic():
            again = import_manifest(data, project="world", namespace="duckdb://world", actor=machine)
        assert (again.added, again.changed, again.removed) == (0, 0, 0)
        assert state() == before


@needs_corpus
@pytest.mark.parametrize(
    "path", sorted(Path(CORPUS or "/nowhere").glob("manifests/*.json")), ids=lambda path: path.stem
)
def test_two_runs_of_one_project_differ_in_nothing_but_their_stamps(path: Path, machine: Actor) -> None:
    document = orjson.loads(path.read_bytes())
    first = import_manifest(path.read_bytes(), project="world", actor=machine)
    document["metadata"] |= {"generated_at": "later", "invocation_id": "another", "env": {"X": "1"}}
    for node in document["nodes"].values():
        node["created_at"] = 1.0
    again = import_manifest(orjson.dumps(document), project="world", actor=machine)
    assert (again.graph_version, again.added, again.changed, again.removed) == (1, 0, 0, 0)
    assert (again.assets, again.edges, again.warnings) == (first.assets, first.edges, first.warnings)
