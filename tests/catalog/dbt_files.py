"""Small dbt artifacts made by hand, and a real dbt for the tests that need what dbt itself says."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

CORPUS = os.environ.get("SPELLBOOK_TEST_CORPUS", "")
needs_corpus = pytest.mark.skipif(
    not (CORPUS and Path(CORPUS).is_dir()),
    reason="SPELLBOOK_TEST_CORPUS names no folder with manifests/ and pairs/ of public dbt projects",
)


def model(name: str, code: str = "select 1 as id", *parents: str, **fields: Any) -> dict[str, Any]:
    """A model entry as dbt 1.11 writes it, but for `fields`."""
    return {
        "unique_id": f"model.shop.{name}", "resource_type": "model", "name": name, "alias": name,
        "package_name": "shop",
        "database": "shop", "schema": "main", "relation_name": f'"shop"."main"."{name}"', "raw_code": code,
        "original_file_path": f"models/{name}.sql", "fqn": ["shop", name],
        "config": {"materialized": "table", "enabled": True},
        "unrendered_config": {}, "depends_on": {"nodes": list(parents), "macros": []}, "columns": {}, "language": "sql",
        "checksum": {"name": "sha256", "checksum": str(hash(code))}, **fields,
    }  # fmt: skip


def source(name: str, **fields: Any) -> dict[str, Any]:
    return {
        "unique_id": f"source.shop.app.{name}", "resource_type": "source", "name": name, "identifier": name,
        "source_name": "app", "package_name": "shop", "database": "shop", "schema": "app",
        "relation_name": f'"shop"."app"."{name}"', "fqn": ["shop", "app", name], "config": {"enabled": True},
        "unrendered_config": {}, **fields,
    }  # fmt: skip


def document(*entries: dict[str, Any], version: str | None = "v12", **fields: Any) -> dict[str, Any]:
    """A manifest of these entries, each in the collection that its resource type belongs to."""
    places = {"source": "sources", "exposure": "exposures", "metric": "metrics", "semantic_model": "semantic_models"}
    found: dict[str, Any] = {"metadata": {"adapter_type": "duckdb", "project_name": "shop", "dbt_version": "1.11.0"}}
    if version:
        found["metadata"]["dbt_schema_version"] = f"https://schemas.getdbt.com/dbt/manifest/{version}.json"
    found |= {
        "nodes": {},
        "sources": {},
        "exposures": {},
        "metrics": {},
        "semantic_models": {},
        "macros": {},
        "disabled": {},
    }
    for entry in entries:
        found[places.get(entry["resource_type"], "nodes")][entry["unique_id"]] = entry
    return {**found, **fields}


def as_bytes(value: object) -> bytes:
    return json.dumps(value).encode()


def dbt(project: Path, *arguments: str) -> str:
    """What the real dbt prints for `arguments` in `project`; skips where it is not installed."""
    executable = Path(getattr(settings, "SPELLBOOK_DBT", "") or Path(settings.BASE_DIR, ".envs/dbt/bin/dbt"))
    if not executable.exists():
        pytest.skip(f"no dbt at {executable}: make setup installs it")
    environment = {"PATH": os.environ["PATH"], "HOME": str(project), "DBT_SEND_ANONYMOUS_USAGE_STATS": "0"}
    command = [str(executable), *arguments, "--project-dir", str(project), "--profiles-dir", str(project)]
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def project(folder: Path, files: dict[str, str], schema: str = "main") -> Path:
    """A dbt project on DuckDB with these files under `folder`."""
    output = f"{{type: duckdb, path: shop.duckdb, schema: {schema}, threads: 1}}"
    texts = {
        "dbt_project.yml": "name: shop\nversion: '1.0'\nprofile: shop\n",
        "profiles.yml": f"shop: {{target: dev, outputs: {{dev: {output}}}}}\n",
        **files,
    }
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder
