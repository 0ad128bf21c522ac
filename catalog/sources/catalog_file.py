"""Reading dbt's catalog.json: the columns that the warehouse really has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from catalog.sources import artifact
from catalog.sources.artifact import mapping, text
from catalog.sources.manifest_types import ManifestWarning
from foundation.errors import BadInput

KNOWN_VERSIONS = (1, 20)


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column as the warehouse describes it; `position` counts as the warehouse does."""

    name: str
    data_type: str
    position: int
    comment: str = ""


@dataclass(frozen=True, slots=True)
class TableEntry:
    """A table or view under dbt's unique id; `relation_type` is the warehouse's word (BASE TABLE, VIEW)."""

    unique_id: str
    relation_type: str
    columns: tuple[TableColumn, ...]
    comment: str = ""


@dataclass(frozen=True, slots=True)
class CatalogFile:
    """The tables of one catalog.json by unique id, sources among them."""

    schema_version: str | None
    generated_at: str
    tables: dict[str, TableEntry]
    warnings: list[ManifestWarning] = field(default_factory=list)


def read(data: bytes) -> CatalogFile:
    """The catalog in `data`; BadInput, with one sentence, when the file is something else."""
    document = artifact.load(data, "catalog")
    version = artifact.schema_version(document, "catalog")
    if not isinstance(document.get("nodes"), dict):
        raise BadInput("the catalog has no nodes")
    entries = {**mapping(document.get("sources")), **document["nodes"]}
    warnings = [
        ManifestWarning(key, "the entry is not an object and was left out")
        for key, raw in entries.items()
        if not isinstance(raw, dict)
    ]
    strange = artifact.strange_version(document, "catalog", KNOWN_VERSIONS)
    if strange:
        warnings.insert(0, ManifestWarning("", strange))
    generated_at = text(mapping(document.get("metadata")).get("generated_at"))
    tables = {key: _table(key, raw) for key, raw in entries.items() if isinstance(raw, dict)}
    return CatalogFile(version, generated_at, tables, warnings)


def _table(unique_id: str, raw: Mapping[str, Any]) -> TableEntry:
    metadata = mapping(raw.get("metadata"))
    found = [
        _column(key, mapping(item), place) for place, (key, item) in enumerate(mapping(raw.get("columns")).items(), 1)
    ]
    columns = tuple(sorted(found, key=lambda column: column.position))
    return TableEntry(unique_id, text(metadata.get("type")), columns, text(metadata.get("comment")))


def _column(key: str, raw: Mapping[str, Any], place: int) -> TableColumn:
    index = raw.get("index")
    position = index if isinstance(index, int) else place
    return TableColumn(text(raw.get("name")) or key, text(raw.get("type")), position, text(raw.get("comment")))
