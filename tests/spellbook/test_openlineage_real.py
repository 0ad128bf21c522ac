"""OpenLineage's own client and dbt wrapper against the site: what they send becomes what the manifest says."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pytest
from pytest_django import Settings

from catalog import selectors
from catalog.models import Asset, ColumnLineage, EdgeClaim, GraphVersion, LineageEvent, NodeClaim
from catalog.services.imports import import_manifest
from catalog.sources.openlineage.schema import published
from foundation import connections
from spellbook import tasks
from tests.catalog.dbt_files import CORPUS, needs_corpus, project
from tests.spellbook.machines import Machine, command_line
from tests.spellbook.test_processes import wait_for

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / ".envs" / "openlineage" / "bin"
PRODUCER = ROOT / "tests" / "openlineage_producer.py"
pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not (BIN / "dbt-ol").exists(), reason="no .envs/openlineage: make test-real makes it"),
]


@dataclass
class Site:
    """The real web process on the test's own database, and an agent's token for it."""

    port: int
    machine: Machine

    def environment(self, folder: Path) -> dict[str, str]:
        """What a producer is told of us, and nothing else of this process."""
        return {
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "HOME": str(folder),
            "OPENLINEAGE_URL": f"http://127.0.0.1:{self.port}",
            "OPENLINEAGE_API_KEY": self.machine.token,
            "OPENLINEAGE_NAMESPACE": "dbt-nightly",
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "0",
        }


@pytest.fixture
def site(committing: str, tmp_path: Path, settings: Settings) -> Iterator[Site]:
    settings.ARTIFACTS_DIR = tmp_path / "artifacts"
    machine = Machine.make(scopes=["lineage:write"])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        os.set_inheritable(listening.fileno(), True)
        environment = {**os.environ, "SPELLBOOK_DATA_DIR": str(tmp_path / "data"), "DATABASE_URL": committing}
        command = [sys.executable, "-m", "spellbook.web", str(listening.fileno())]
        web = subprocess.Popen(command, cwd=ROOT, env=environment, pass_fds=[listening.fileno()])
        try:
            yield Site(int(listening.getsockname()[1]), machine)
        finally:
            web.terminate()
            web.wait(20)


def run(site: Site, folder: Path, *command: str) -> str:
    done = subprocess.run(
        command, cwd=folder, env=site.environment(folder), capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def produced(*arguments: str) -> str:
    done = subprocess.run(
        [str(BIN / "python"), str(PRODUCER), *arguments], capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def edges(source: str) -> set[tuple[str, str]]:
    found = EdgeClaim.objects.filter(source__key=source, removed_in__isnull=True)
    return set(found.values_list("from_asset__name", "to_asset__name"))


def read_all() -> None:
    """Everything that came is read; nothing of it was refused."""
    while tasks.read_lineage():
        pass
    wait_for(lambda: not LineageEvent.objects.filter(due_at__isnull=False).exists(), 1)
    assert set(LineageEvent.objects.values_list("refusal", flat=True)) == {""}


def test_the_schema_holds_what_the_classes_that_the_client_made_from_it_hold() -> None:
    made = json.loads(produced("fields"))
    schema = published()
    assert made["url"].partition("#")[0] == schema["$id"]
    classes = {name: {field for field, _ in fields} for name, fields in made["classes"].items()}
    assert {name: _properties(name) for name in schema["$defs"]} == classes
    # the client fills these in itself
    filled = {"producer", "schemaURL", "_producer", "_schemaURL"}
    needed = {name: {field for field, need in fields if need} for name, fields in made["classes"].items()}
    assert {name: _required(name) - filled for name in schema["$defs"]} == needed


def _parts(name: str) -> Iterator[dict[str, Any]]:
    """The definition and what it is made of."""
    definition = published()["$defs"][name]
    yield definition
    for part in definition.get("allOf", []):
        yield from _parts(part["$ref"].rpartition("/")[2]) if "$ref" in part else [part]


def _properties(name: str) -> set[str]:
    return {field for part in _parts(name) for field in part.get("properties", {})}


def _required(name: str) -> set[str]:
    return {field for part in _parts(name) for field in part.get("required", [])}


def test_the_real_client_sends_each_kind_of_event(site: Site, tmp_path: Path) -> None:
    run(site, tmp_path, str(BIN / "python"), str(PRODUCER), "client")
    assert sorted(LineageEvent.objects.values_list("kind", flat=True)) == ["dataset", "job", "run", "run"]
    read_all()
    assert edges("openlineage") == {
        ("shop.public.raw", "shop.public.orders"),
        ("shop.public.orders", "shop.public.report"),
    }
    assert GraphVersion.objects.count() == 1
    raw, orders = selectors.find_asset("public.raw"), selectors.find_asset("public.orders")
    assert raw.description == "What came in"
    assert [one.name for one in selectors.columns(orders)] == ["total"]
    assert ColumnLineage.objects.get(asset=orders).columns["total"]["sources"] == [[raw.pk, "amount"]]


def test_a_token_without_the_scope_is_told_so_by_the_client(site: Site, tmp_path: Path) -> None:
    other = Site(site.port, Machine.make(scopes=["value:write"], name="other"))
    done = subprocess.run(
        [str(BIN / "python"), str(PRODUCER), "client"],
        cwd=tmp_path, env=other.environment(tmp_path), capture_output=True, text=True, timeout=250, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "403" in done.stderr
    assert not LineageEvent.objects.exists()


# --- dbt-ol -----------------------------------------------------------------------------------------------------------

SOURCES = """
version: 2
sources:
  - name: raw
    schema: raw
    tables: [{name: orders}, {name: customers}]
models:
  - name: orders
    description: One row an order
    columns: [{name: id, data_type: integer, description: The key, tests: [not_null]}, {name: total}]
"""
FILES = {
    "models/sources.yml": SOURCES,
    "models/stg_orders.sql": "select id, amount, customer_id from {{ source('raw', 'orders') }}",
    "models/stg_customers.sql": "{{ config(materialized='view') }} select * from {{ source('raw', 'customers') }}",
    "models/orders.sql": "{{ config(materialized='table') }} select o.id, sum(o.amount) as total from "
    "{{ ref('stg_orders') }} o join {{ ref('stg_customers') }} c on c.id = o.customer_id group by 1",
    "models/revenue.sql": "{{ config(materialized='incremental', alias='Net_Revenue') }} "
    "select sum(total) as revenue from {{ ref('orders') }}",
    "snapshots/history.sql": "{% snapshot history %}{{ config(unique_key='id', strategy='check', check_cols='all', "
    "target_schema='snapshots') }} select * from {{ ref('orders') }}{% endsnapshot %}",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = project(tmp_path / "shop", FILES)
    with duckdb.connect(str(folder / "shop.duckdb")) as warehouse:
        warehouse.execute("create schema raw; create table raw.orders as select 1 as id, 5 as amount, 1 as customer_id")
        warehouse.execute("create table raw.customers as select 1 as id, 'a' as name")
    return folder


def connect(folder: Path) -> None:
    connections.save(
        "wh", kind="duckdb", purpose="read", namespace="duckdb://wh", params={"path": str(folder / "shop.duckdb")},
        secret_names=[], actor=command_line(),
    )  # fmt: skip


def wrapped(site: Site, folder: Path, *arguments: str) -> str:
    """`dbt-ol`, whose profile names the warehouse by its whole path, as people write it."""
    profiles = (folder / "profiles.yml").read_text().replace("path: shop.duckdb", f"path: {folder / 'shop.duckdb'}")
    (folder / "profiles.yml").write_text(profiles)
    return run(site, folder, str(BIN / "dbt-ol"), *arguments, "--project-dir", ".", "--profiles-dir", ".")


@pytest.mark.parametrize("events_first", [True, False], ids=["events first", "manifest first"])
@pytest.mark.parametrize(
    "command", [["build"], ["--consume-structured-logs", "build"]], ids=["artifacts", "structured logs"]
)
def test_dbt_ol_gives_the_edges_and_the_assets_of_the_manifest(
    command: list[str], events_first: bool, site: Site, shop: Path
) -> None:
    connect(shop)
    wrapped(site, shop, *command)
    assert LineageEvent.objects.count() > 10
    manifest = (shop / "target" / "manifest.json").read_bytes()
    if events_first:
        read_all()
    import_manifest(manifest, namespace="duckdb://wh", actor=command_line())
    read_all()
    assert edges("openlineage") == edges("dbt:shop")
    assert len(edges("dbt:shop")) == 6
    tables = set(NodeClaim.objects.filter(source__key="dbt:shop").values_list("asset", flat=True))
    assert set(NodeClaim.objects.filter(source__key="openlineage").values_list("asset", flat=True)) == tables
    assert Asset.objects.count() == len(tables) == 7
    orders = selectors.find_asset("main.orders")
    assert (orders.kind, orders.description) == ("model", "One row an order")


def test_a_dependency_that_is_gone_from_the_code_is_gone_after_the_next_run(site: Site, shop: Path) -> None:
    connect(shop)
    wrapped(site, shop, "run")
    read_all()
    assert ("shop.main.stg_customers", "shop.main.orders") in edges("openlineage")
    (shop / "models" / "orders.sql").write_text("select id, amount as total from {{ ref('stg_orders') }}")
    wrapped(site, shop, "run")
    read_all()
    assert ("shop.main.stg_customers", "shop.main.orders") not in edges("openlineage")
    assert ("shop.main.stg_orders", "shop.main.orders") in edges("openlineage")


def test_an_ephemeral_model_is_the_asset_of_the_manifest(site: Site, shop: Path) -> None:
    connect(shop)
    (shop / "models" / "stg_orders.sql").write_text(
        "{{ config(materialized='ephemeral') }} select id, amount, customer_id from {{ source('raw', 'orders') }}"
    )
    wrapped(site, shop, "run")
    import_manifest((shop / "target" / "manifest.json").read_bytes(), namespace="duckdb://wh", actor=command_line())
    before = Asset.objects.count()
    read_all()
    assert Asset.objects.count() == before
    assert edges("openlineage") <= edges("dbt:shop")


# --- the corpus -------------------------------------------------------------------------------------------------------


def manifests() -> list[Path]:
    return sorted(Path(CORPUS, "manifests").glob("*.json")) if CORPUS else []


@needs_corpus
@pytest.mark.django_db
@pytest.mark.parametrize("path", manifests(), ids=lambda path: path.stem)
def test_the_events_of_a_public_project_give_its_edges(path: Path, settings: Settings, tmp_path: Path) -> None:
    """The processor names models and sources as parents of models and snapshots: these edges are the manifest's."""
    if "_v1_" in path.stem:
        pytest.skip("the processor reads manifests from v2 on")
    settings.ARTIFACTS_DIR = tmp_path / "artifacts"
    events = [orjson.loads(line) for line in produced("artifacts", str(path)).splitlines()]
    space = next(one["namespace"] for event in events for one in event["outputs"])
    import_manifest(path.read_bytes(), namespace=space, project="shop", actor=command_line())
    machine = Machine.make(scopes=["lineage:write"])
    assert machine.client.post(
        "/api/v1/lineage", orjson.dumps(events), content_type="application/json", headers=machine.headers
    ).status_code == 201  # fmt: skip
    read_all()
    unbuilt = {one.asset.name for one in claimed(built=False)}
    assert {pair for pair in edges("openlineage") if not unbuilt & set(pair)} == direct()
    assert LineageEvent.objects.count() == len(events)


def direct() -> set[tuple[str, str]]:
    """What the manifest's models and snapshots name as their parents, among models and sources that are tables."""
    built = {one.local_id: one for one in claimed(built=True)}
    return {
        (built[above].asset.name, one.asset.name)
        for one in built.values()
        if one.attributes["resource_type"] in ("model", "snapshot")
        for above in one.attributes["depends_on"]
        if above in built and built[above].attributes["resource_type"] in ("model", "source")
    }


def claimed(*, built: bool) -> list[NodeClaim]:
    """What the manifest describes as a table, or the rest: ephemeral models, parents that are not in the file."""
    claims = NodeClaim.objects.filter(source__key="dbt:shop", removed_in__isnull=True).select_related("asset")
    return [one for one in claims if bool(one.attributes.get("relation")) is built]
