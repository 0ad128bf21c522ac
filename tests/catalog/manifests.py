"""Small manifests for tests, in the form of dbt 1.11."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any


def model(
    name: str, *above: str, package: str = "shop", kind: str = "model", **more: Any
) -> tuple[str, dict[str, Any]]:
    """An entry of `nodes`; `above` are unique ids."""
    unique_id = f"{kind}.{package}.{name}"
    node = {
        "unique_id": unique_id,
        "resource_type": kind,
        "name": name,
        "alias": name,
        "package_name": package,
        "database": "dev",
        "schema": "main",
        "relation_name": f'"dev"."main"."{name}"',
        "original_file_path": f"models/{name}.sql",
        "raw_code": "select 1",
        "checksum": {"name": "sha256", "checksum": f"sum of {name}"},
        "config": {"materialized": "table"},
        "depends_on": {"nodes": list(above)},
        "columns": {},
        "description": "",
    }
    return unique_id, node | more


def source(name: str, *, schema: str = "raw", package: str = "shop") -> tuple[str, dict[str, Any]]:
    unique_id = f"source.{package}.{schema}.{name}"
    return unique_id, {
        "unique_id": unique_id,
        "resource_type": "source",
        "name": name,
        "identifier": name,
        "source_name": schema,
        "package_name": package,
        "database": "dev",
        "schema": schema,
        "relation_name": f'"dev"."{schema}"."{name}"',
        "columns": {},
    }


def exposure(name: str, *above: str, package: str = "shop", **more: Any) -> tuple[str, dict[str, Any]]:
    unique_id = f"exposure.{package}.{name}"
    return unique_id, {
        "unique_id": unique_id,
        "resource_type": "exposure",
        "name": name,
        "type": "dashboard",
        "package_name": package,
        "owner": {"name": None, "email": None},
        "depends_on": {"nodes": list(above)},
    } | more


def manifest(
    nodes: Iterable[tuple[str, Mapping[str, Any]]],
    *,
    sources: Iterable[tuple[str, Mapping[str, Any]]] = (),
    exposures: Iterable[tuple[str, Mapping[str, Any]]] = (),
    project: str | None = "shop",
    adapter: str = "duckdb",
    stamp: str = "one",
) -> bytes:
    """The bytes of a manifest.json; `stamp` is what differs between two runs of the same code."""
    metadata = {
        "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
        "dbt_version": "1.11.0",
        "project_name": project,
        "adapter_type": adapter,
        "invocation_id": stamp,
        "generated_at": stamp,
    }
    document = {"metadata": metadata, "nodes": dict(nodes), "sources": dict(sources), "exposures": dict(exposures)}
    return json.dumps(document).encode()


def shop(*extra: tuple[str, Mapping[str, Any]], **more: Any) -> bytes:
    """raw.orders -> stg_orders -> orders -> revenue, and a board that reads revenue."""
    nodes = [
        model("stg_orders", "source.shop.raw.orders"),
        model("orders", "model.shop.stg_orders"),
        model("revenue", "model.shop.orders"),
        *extra,
    ]
    board = exposure("weekly_board", "model.shop.revenue")
    return manifest(nodes, sources=[source("orders")], exposures=[board], **more)


def run_results(*results: tuple[str, str, int | None], invocation: str = "one") -> bytes:
    """(unique id, status, rows) for each node."""
    metadata = {
        "dbt_schema_version": "https://schemas.getdbt.com/dbt/run-results/v6.json",
        "dbt_version": "1.11.0",
        "invocation_id": invocation,
        "generated_at": "2026-01-01T00:00:00Z",
    }
    rows = [
        {
            "unique_id": unique_id,
            "status": status,
            "execution_time": 0.25,
            "adapter_response": {} if count is None else {"rows_affected": count},
            "timing": [],
        }
        for unique_id, status, count in results
    ]
    return json.dumps({"metadata": metadata, "results": rows, "elapsed_time": 1.0, "args": {}}).encode()


def catalog_file(*tables: tuple[str, Mapping[str, str]]) -> bytes:
    """(unique id, column -> type) for each table."""
    nodes = {
        unique_id: {
            "metadata": {"type": "BASE TABLE", "schema": "main", "name": unique_id.rpartition(".")[2]},
            "columns": {
                name: {"name": name, "type": data_type, "index": place}
                for place, (name, data_type) in enumerate(columns.items(), 1)
            },
            "stats": {},
            "unique_id": unique_id,
        }
        for unique_id, columns in tables
    }
    metadata = {"dbt_schema_version": "https://schemas.getdbt.com/dbt/catalog/v1.json", "generated_at": "x"}
    return json.dumps({"metadata": metadata, "nodes": nodes, "sources": {}}).encode()
