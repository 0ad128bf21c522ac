"""Lineage equals dbt's own: for every node of real projects, `dbt ls --select M+` and `+M`, and the shared pairs."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import networkx
import pytest
from django.conf import settings

from catalog.graph.adjacency import Direction, adjacency
from catalog.models import NodeClaim
from catalog.services.imports import import_manifest
from foundation.audit import Actor
from tests.catalog.dbt_files import CORPUS, needs_corpus, project

KINDS = ("model", "seed", "snapshot", "source", "exposure")
SPINE = "select cast('2026-01-01' as date) as date_day"
FILES = {
    "seeds/countries.csv": "code,name\nde,Germany\n",
    "models/raw_orders.sql": "select 1 as id, 5 as amount, 'de' as code, cast('2026-01-01' as date) as sold_on",
    "models/eph.sql": "{{ config(materialized='ephemeral') }} select * from {{ ref('raw_orders') }}",
    "models/eph_two.sql": "{{ config(materialized='ephemeral') }} select * from {{ ref('eph') }}",
    "models/orders_v1.sql": "select * from {{ ref('eph_two') }}",
    "models/orders_v2.sql": "select * from {{ ref('eph') }} join {{ ref('countries') }} using (code)",
    "models/dim.orders.sql": "select * from {{ ref('orders', v=1) }}",
    "models/late.sql": "select * from {{ ref('orders') }} union all select * from {{ ref('orders', v=1) }}",
    "models/from_snapshot.sql": "select * from {{ ref('orders_snapshot') }}",
    "models/off.sql": "{{ config(enabled=false) }} select * from {{ ref('late') }}",
    "models/twin.sql": "select * from {{ source('app', 'events') }}",
    "models/twin_reader.sql": "select * from {{ ref('twin') }} union all select * from {{ ref('lib', 'twin') }}",
    "models/alone.sql": "select 1 as id",
    "models/spine.sql": SPINE,
    "analyses/look.sql": "select * from {{ ref('late') }}",
    "tests/singular.sql": "select * from {{ ref('late') }} where id is null",
    "snapshots/s.sql": (
        "{% snapshot orders_snapshot %}{{ config(target_schema='snap', unique_key='id', strategy='check',"
        " check_cols='all') }}select * from {{ ref('raw_orders') }}{% endsnapshot %}"
    ),
    "models/schema.yml": """
sources:
  - {name: app, schema: main, tables: [{name: events}, {name: unused}]}
groups:
  - {name: finance, owner: {name: Finance, email: finance@example.com}}
models:
  - name: orders
    latest_version: 2
    versions: [{v: 1}, {v: 2}]
    columns: [{name: id, data_tests: [not_null, {relationships: {to: ref('raw_orders'), field: id}}]}]
  - {name: spine, time_spine: {standard_granularity_column: date_day},
     columns: [{name: date_day, granularity: day}]}
  - {name: late, config: {group: finance}}
unit_tests:
  - {name: adds, model: late, given: [{input: "ref('orders', v=2)", rows: []}, {input: "ref('orders', v=1)", rows: []}],
     expect: {rows: []}}
semantic_models:
  - name: sales
    model: ref('late')
    defaults: {agg_time_dimension: sold_on}
    entities: [{name: id, type: primary}]
    dimensions: [{name: sold_on, type: time, type_params: {time_granularity: day}}]
    measures: [{name: total, agg: sum, expr: amount}]
metrics:
  - {name: revenue, label: Revenue, type: simple, type_params: {measure: total}}
saved_queries:
  - {name: weekly, query_params: {metrics: [revenue]}}
exposures:
  - {name: board, type: dashboard, owner: {email: a@example.com},
     depends_on: ["ref('late')", "source('app', 'events')"]}
  - {name: board_of_metrics, type: ml, owner: {name: A}, depends_on: ["metric('revenue')"]}
""",
    "packages.yml": "packages: [{local: lib}]\n",
    "lib/dbt_project.yml": "name: lib\nversion: '1.0'\nprofile: shop\n",
    "lib/models/twin.sql": "{{ config(schema='lib') }} select 2 as id",
    "lib/models/from_lib.sql": "select * from {{ ref('twin') }}",
}


def asked(folder: Path) -> Mapping[str, Mapping[str, list[str]]]:
    """What dbt lists above and below each node of the project."""
    executable = Path(getattr(settings, "SPELLBOOK_DBT", "") or Path(settings.BASE_DIR, ".envs/dbt/bin/dbt"))
    if not executable.exists():
        pytest.skip(f"no dbt at {executable}: make setup installs it")
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "DBT_SEND_ANONYMOUS_USAGE_STATS": "0"}
    for command in (
        [str(executable), "deps", "--project-dir", str(folder), "--profiles-dir", str(folder)],
        [str(executable.with_name("python")), "-I", str(Path(__file__).with_name("dbt_ls.py")), str(folder)],
    ):
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=500, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    found: Mapping[str, Mapping[str, list[str]]] = json.loads(done.stdout[done.stdout.index('{"') :])
    return found


def ours(unique_id: str, direction: Direction) -> list[str]:
    """What we find, and the node itself, as dbt lists it."""
    ids = dict(NodeClaim.objects.filter(removed_in__isnull=True).values_list("asset_id", "local_id"))
    pk = NodeClaim.objects.get(local_id=unique_id, removed_in__isnull=True).asset_id
    walked = adjacency().walk(pk, direction)
    return sorted({unique_id, *(ids[one] for one in walked.ids.tolist())})


@pytest.mark.dbt
@pytest.mark.real
@pytest.mark.both
@pytest.mark.timeout(900)
def test_lineage_of_every_node_of_a_real_project_is_what_dbt_lists(tmp_path: Path, machine: Actor) -> None:
    folder = project(tmp_path, FILES)
    listed = asked(folder)
    report = import_manifest((folder / "target/manifest.json").read_bytes(), actor=machine)
    assert report.warnings == ()
    assert set(listed) == set(NodeClaim.objects.values_list("local_id", flat=True))
    assert len(listed) >= 20
    for unique_id, answer in listed.items():
        assert ours(unique_id, "down") == answer["down"], unique_id
        assert ours(unique_id, "up") == answer["up"], unique_id


def contracted(document: Mapping[str, Any], ids: Mapping[str, int]) -> networkx.DiGraph:
    """dbt's own graph of a manifest, in which nodes that write one table are one."""
    described = {**document["nodes"], **document["sources"], **document["exposures"]}
    graph = networkx.DiGraph()
    for child, parents in document["parent_map"].items():
        above = {*parents, *described.get(child, {}).get("depends_on", {}).get("nodes", ())}
        graph.add_edges_from((ids.get(parent, parent), ids.get(child, child)) for parent in above)
    return graph


def every_file() -> list[Path]:
    return sorted(
        [*Path(CORPUS or "/nowhere").glob("manifests/*.json"), *Path(CORPUS or "/nowhere").glob("pairs/*/*d.json")]
    )


@needs_corpus
@pytest.mark.parametrize("path", every_file(), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_lineage_of_every_public_manifest_is_that_of_its_parent_map(path: Path, machine: Actor) -> None:
    document = json.loads(path.read_bytes())
    import_manifest(path.read_bytes(), actor=machine, project="public")
    ids = dict(NodeClaim.objects.values_list("local_id", "asset_id"))
    graph, assets = contracted(document, ids), set(ids.values())
    ways: tuple[tuple[Direction, Any], ...] = (("down", networkx.descendants), ("up", networkx.ancestors))
    for pk in assets & set(graph):
        for direction, theirs in ways:
            assert set(adjacency().walk(pk, direction).ids.tolist()) == theirs(graph, pk) & assets


@needs_corpus
@pytest.mark.parametrize("pair", ["dpe_staging", "jaffle_duckdb_orders"])
def test_what_lies_below_the_changes_of_a_shared_pair_is_what_dbt_listed(pair: str, machine: Actor) -> None:
    folder = Path(CORPUS) / "pairs" / pair
    import_manifest((folder / "head.json").read_bytes(), actor=machine)
    roots = (folder / "modified_models.txt").read_text().split()
    listed = (folder / "modified_plus_models_exposures.txt").read_text().split()
    below = {name for root in roots for name in ours(root, "down")}
    assert sorted(name for name in below if name.startswith(("model.", "exposure."))) == sorted(listed)
