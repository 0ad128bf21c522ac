"""Runs inside of .envs/openlineage: OpenLineage's own client and dbt processor, for the tests of the receiver.

`artifacts MANIFEST` prints the events of a dbt run of this manifest; `client` sends one event of each kind to the
OPENLINEAGE_URL of its environment; `fields` prints what the client's classes, which are made from the schema, hold.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import attr
from openlineage.client import OpenLineageClient, event_v2
from openlineage.client.facet_v2 import (
    column_lineage_dataset,
    documentation_dataset,
    ownership_dataset,
    schema_dataset,
    symlinks_dataset,
)
from openlineage.client.generated import base
from openlineage.client.serde import Serde
from openlineage.client.uuid import generate_new_uuid
from openlineage.common.provider.dbt import DbtLocalArtifactProcessor

PRODUCER = "https://example.com/producer"
PROFILES: dict[str, dict[str, Any]] = {
    "duckdb": {"path": "/data/shop.duckdb"},
    "postgres": {"host": "db.example.com", "port": 5432},
    "bigquery": {"project": "shop"},
    "snowflake": {"account": "ab12345.us-east-1"},
}
AT = "2026-03-01T10:00:00Z"


def artifacts(path: str) -> None:
    manifest = json.loads(Path(path).read_text())
    for node in manifest["nodes"].values():
        node.setdefault("compiled_sql", "")  # old manifests of `dbt parse`, for which the processor asks all the same
    adapter = manifest["metadata"]["adapter_type"]
    with tempfile.TemporaryDirectory() as name:
        _project(Path(name), manifest, adapter)
        os.environ["DBT_PROFILES_DIR"] = name
        processor = DbtLocalArtifactProcessor(
            project_dir=name, producer=PRODUCER, job_namespace="dbt", profile_name="shop", target="dev"
        )
        for event in processor.parse().events():
            print(Serde.to_json(event))


def _project(folder: Path, manifest: Any, adapter: str) -> None:
    profile = {"shop": {"target": "dev", "outputs": {"dev": {"type": adapter, **PROFILES[adapter]}}}}
    timing = [{"name": name, "started_at": AT, "completed_at": AT} for name in ("compile", "execute")]
    built = [
        {"unique_id": key, "status": "success", "timing": timing, "adapter_response": {}}
        for key, node in manifest["nodes"].items()
        if key.partition(".")[0] in ("model", "snapshot") and node["config"]["materialized"] != "ephemeral"
    ]
    schema = "https://schemas.getdbt.com/dbt/run-results/v4.json"
    metadata = {"dbt_schema_version": schema, "dbt_version": "1.11.0", "invocation_id": "one", "generated_at": AT}
    results = {"metadata": metadata, "args": {"which": "run"}, "results": built}
    (folder / "target").mkdir()
    texts = {"dbt_project.yml": {"name": "shop", "version": "1.0", "profile": "shop"}, "profiles.yml": profile}
    for name, value in {**texts, "target/manifest.json": manifest, "target/run_results.json": results}.items():
        (folder / name).write_text(json.dumps(value))  # JSON is YAML too


def client() -> None:
    """A run that starts and completes, a job, and a dataset, each as the client writes it."""
    space = "postgres://db.example.com:5432"
    sender = OpenLineageClient()
    job = event_v2.Job(namespace="https://airflow.example.com", name="nightly.orders")
    run = event_v2.Run(runId=str(generate_new_uuid()))
    raw = event_v2.InputDataset(namespace=space, name="shop.public.raw")
    fields = [schema_dataset.SchemaDatasetFacetFields(name="total", type="numeric")]
    source = column_lineage_dataset.InputField(namespace=space, name="shop.public.raw", field="amount")
    orders = event_v2.OutputDataset(
        namespace=space,
        name="shop.public.orders",
        facets={
            "schema": schema_dataset.SchemaDatasetFacet(fields=fields),
            "columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet(
                fields={"total": column_lineage_dataset.Fields(inputFields=[source])}
            ),
        },
    )
    told = {"run": run, "job": job, "producer": PRODUCER}
    sender.emit(event_v2.RunEvent(eventType=event_v2.RunState.START, eventTime=AT, **told))
    sender.emit(
        event_v2.RunEvent(
            eventType=event_v2.RunState.COMPLETE,
            eventTime=AT.replace(":00Z", ":09Z"),
            inputs=[raw],
            outputs=[orders],
            **told,
        )
    )
    other = event_v2.Job(namespace="https://airflow.example.com", name="nightly.report")
    lake = event_v2.InputDataset(
        namespace="s3://lake",
        name="/orders",
        facets={
            "symlinks": symlinks_dataset.SymlinksDatasetFacet(
                identifiers=[symlinks_dataset.Identifier(namespace=space, name="shop.public.orders", type="TABLE")]
            )
        },
    )
    report = event_v2.OutputDataset(namespace=space, name="shop.public.report")
    sender.emit(event_v2.JobEvent(eventTime=AT, job=other, inputs=[lake], outputs=[report], producer=PRODUCER))
    words = {
        "documentation": documentation_dataset.DocumentationDatasetFacet(description="What came in"),
        "ownership": ownership_dataset.OwnershipDatasetFacet(owners=[ownership_dataset.Owner(name="team:sales")]),
    }
    static = event_v2.StaticDataset(namespace=space, name="shop.public.raw", facets=words)
    sender.emit(event_v2.DatasetEvent(eventTime=AT, dataset=static, producer=PRODUCER))
    sender.close()


def fields() -> None:
    """{class: [[field, needed], ...]} with the fields of the classes above it."""
    found = {
        name: [[one.name, one.default is attr.NOTHING] for one in attr.fields(kind)]
        for name, kind in vars(base).items()
        if isinstance(kind, type) and attr.has(kind)
    }
    print(json.dumps({"url": base.RunEvent._get_schema(), "classes": found}))


if __name__ == "__main__":
    if sys.argv[1] == "artifacts":
        artifacts(sys.argv[2])
    else:
        {"client": client, "fields": fields}[sys.argv[1]]()
