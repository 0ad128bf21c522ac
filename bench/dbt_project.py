"""Generated manifests: as many models as wanted, ten columns each, in the form and size that dbt writes."""

from __future__ import annotations

import random
from typing import Any

import orjson

COLUMNS = 10
TYPES = ("bigint", "varchar", "timestamp", "numeric(18,2)", "boolean")
WORDS = ("orders", "visits", "payments", "refunds", "carts", "parcels", "claims", "invoices", "leads", "seats")


def manifest(models: int, *, seed: int = 7, stamp: str = "one", changed: int = 0, compiled: bool = True) -> bytes:
    """The bytes of a manifest.json of `models` models and a tenth as many sources; 5,000 models are about 11 MB.

    Each model reads one to three earlier ones or a source. `stamp` is what differs between two runs of the same code
    (generated_at, invocation_id), `changed` is how many models have other code than without it, and without `compiled`
    the file is one that `dbt parse` or `dbt test` writes.
    """
    chance = random.Random(seed)  # noqa: S311 -- a shape to measure with, not a secret
    sources = dict(_source(number) for number in range(max(models // 10, 1)))
    nodes = dict(_model(number, len(sources), chance, number < changed, compiled) for number in range(models))
    metadata = {
        "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
        "dbt_version": "1.11.2",
        "generated_at": f"2026-01-01T00:00:00.{len(stamp):06d}Z",
        "invocation_id": stamp,
        "project_name": "generated",
        "adapter_type": "postgres",
    }
    document = {"metadata": metadata, "nodes": nodes, "sources": sources, "macros": {}, "exposures": {}, "metrics": {}}
    return orjson.dumps(document | {"groups": {}, "disabled": {}, "parent_map": _parents(nodes), "child_map": {}})


def _parents(nodes: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    return {key: node["depends_on"]["nodes"] for key, node in nodes.items()}


def _model(
    number: int, sources: int, chance: random.Random, changed: bool, compiled: bool
) -> tuple[str, dict[str, Any]]:
    name = f"fct_{WORDS[number % len(WORDS)]}_{number:05d}"
    above = _above(number, sources, chance)
    columns = {name: _column(name, place) for place, name in enumerate(_names())}
    relation = f'"warehouse"."analytics"."{name}"'
    tables = [f'"warehouse"."analytics"."{one.rpartition(".")[2]}"' for one in above]
    code = _code(tables, changed)
    node: dict[str, Any] = {
        "unique_id": f"model.generated.{name}", "resource_type": "model", "name": name, "alias": name,
        "package_name": "generated", "database": "warehouse", "schema": "analytics", "relation_name": relation,
        "path": f"marts/{name}.sql", "original_file_path": f"models/marts/{name}.sql",
        "fqn": ["generated", "marts", name],
        "checksum": {"name": "sha256", "checksum": f"{hash((number, changed)) & (2**256 - 1):064x}"},
        "config": {"enabled": True, "materialized": "table", "tags": [], "meta": {}},
        "tags": [], "description": f"One row for each of {name}, as the business counts them.", "columns": columns,
        "meta": {}, "group": None, "patch_path": "generated://models/schema.yml",
        "unrendered_config": {"materialized": "table"}, "created_at": 1767225600.0 + number, "language": "sql",
        "raw_code": code.replace('"warehouse"."analytics".', ""), "refs": [], "sources": [],
        "depends_on": {"macros": [], "nodes": above}, "access": "protected", "version": None, "latest_version": None,
    }  # fmt: skip
    if compiled:
        node |= {"compiled": True, "compiled_code": code, "compiled_path": f"target/compiled/{name}.sql"}
    return node["unique_id"], node


def _above(number: int, sources: int, chance: random.Random) -> list[str]:
    if number < 10:
        return [f"source.generated.app.raw_{number % sources:05d}"]
    picks = sorted({chance.randrange(max(number - 400, 0), number) for _ in range(chance.randint(1, 3))})
    return [f"model.generated.fct_{WORDS[one % len(WORDS)]}_{one:05d}" for one in picks]


def _names() -> list[str]:
    return ["id", "created_at", "amount", "status", "customer_id", "region", "is_open", "updated_at", "note", "tax"]


def _column(name: str, place: int) -> dict[str, Any]:
    return {
        "name": name, "description": f"The {name}.", "meta": {}, "data_type": TYPES[place % len(TYPES)],
        "tags": [],
    }  # fmt: skip


def _code(tables: list[str], changed: bool) -> str:
    union = " union all ".join(f"select * from {table}" for table in tables)  # noqa: S608 -- nobody runs it
    return "".join(("with found as (", union, ") select id, amount, status from found", " where is_open" * changed))


def _source(number: int) -> tuple[str, dict[str, Any]]:
    name = f"raw_{number:05d}"
    unique_id = f"source.generated.app.{name}"
    return unique_id, {
        "unique_id": unique_id, "resource_type": "source", "name": name, "identifier": name, "source_name": "app",
        "package_name": "generated", "database": "warehouse", "schema": "app", "config": {"enabled": True},
        "relation_name": f'"warehouse"."app"."{name}"', "fqn": ["generated", "app", name], "columns": {}, "tags": [],
        "description": "", "meta": {},
    }  # fmt: skip
