"""What a manifest claims, in the catalogue's own words: assets, their columns, and what feeds what. No database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from catalog.sources.catalog_file import CatalogFile, TableEntry
from catalog.sources.manifest import dataset_name, edges
from catalog.sources.manifest_types import Manifest, ManifestWarning, Node
from catalog.sources.naming import DatasetName, dialect_of

NAMESPACE, NAME, LOCAL_ID, COLUMN, TYPE = 300, 500, 500, 300, 200
"""The longest texts that the tables take."""


@dataclass(frozen=True, slots=True)
class ColumnDraft:
    """A column as one artifact describes it."""

    name: str
    data_type: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class NodeDraft:
    """A claim that an asset exists. `columns` come from the warehouse when `measured`, else they are those declared."""

    local_id: str
    identity: DatasetName
    kind: str
    description: str
    attributes: Mapping[str, Any]
    columns: tuple[ColumnDraft, ...] = ()
    measured: bool = False
    external: bool = False
    reader: bool = False


@dataclass(frozen=True, slots=True)
class Claims:
    """All that one source claims: nodes by its own ids, and pairs (from, to) of these ids."""

    nodes: Mapping[str, NodeDraft]
    edges: frozenset[tuple[str, str]]
    warnings: tuple[ManifestWarning, ...] = field(default=())


def claims(manifest: Manifest, namespace: str, catalog: CatalogFile | None = None) -> Claims:
    """The claims of `manifest` for the datasets of `namespace`, with the columns of `catalog` where it has the table.

    A node whose names are longer than the tables take is left out with a warning; so are its edges.
    """
    tables = catalog.tables if catalog else {}
    drafts = {key: _draft(node, manifest.adapter, namespace, tables.get(key)) for key, node in manifest.nodes.items()}
    nodes = {key: draft for key, draft in drafts.items() if _fits(draft)}
    pairs = frozenset((above, below) for above, below in edges(manifest) if above in nodes and below in nodes)
    too_long = (
        ManifestWarning(key[:LOCAL_ID], "its name is too long and it was left out")
        for key in drafts
        if key not in nodes
    )
    unseen = _not_in(catalog, manifest) if catalog else ()
    return Claims(nodes, pairs, (*manifest.warnings, *(catalog.warnings if catalog else ()), *too_long, *unseen))


def _draft(node: Node, adapter: str, namespace: str, table: TableEntry | None) -> NodeDraft:
    declared = tuple(
        ColumnDraft(column.name, (column.data_type or "")[:TYPE], column.description)
        for column in node.columns
        if len(column.name) <= COLUMN
    )
    return NodeDraft(
        local_id=node.unique_id,
        identity=dataset_name(node, adapter, namespace),
        kind=node.kind,
        description=node.description,
        attributes=_attributes(node, adapter, declared),
        columns=_measured(table, declared) if table else declared,
        measured=table is not None,
        external=node.external,
        reader=node.resource_type == "exposure",
    )


def _attributes(node: Node, adapter: str, columns: tuple[ColumnDraft, ...]) -> dict[str, Any]:
    parts = {"database": node.database, "schema": node.schema, "identifier": node.identifier}
    always = {
        "kind": node.kind,
        "resource_type": node.resource_type,
        "name": node.name,
        "materialized": node.materialized,
        "package": node.package,
        "path": node.path,
        "patch_path": node.patch_path,
        "checksum": node.checksum,
        "relation": parts if node.has_relation else None,
        "adapter": adapter,
        "dialect": dialect_of(adapter),
        "depends_on": list(node.depends_on),
    }
    owner = {"name": node.owner.name, "email": node.owner.email} if node.owner else None
    sometimes = {
        "description": node.description,
        "columns": [[column.name, column.data_type, column.description] for column in columns],
        "version": node.version,
        "tags": list(node.tags),
        "group": node.group,
        "owner": owner,
        "label": str(node.facets.get("label") or ""),
        "url": node.url,
        "external": node.external,
    }
    return always | {key: value for key, value in sometimes.items() if value}


def _measured(table: TableEntry, declared: tuple[ColumnDraft, ...]) -> tuple[ColumnDraft, ...]:
    """The warehouse's columns in its order; what was written about them in the manifest goes before its comments."""
    written = {column.name.casefold(): column.description for column in declared}
    return tuple(
        ColumnDraft(column.name, column.data_type[:TYPE], written.get(column.name.casefold()) or column.comment)
        for column in table.columns
        if len(column.name) <= COLUMN
    )


def _fits(draft: NodeDraft) -> bool:
    namespace, name = draft.identity
    return len(namespace) <= NAMESPACE and 0 < len(name) <= NAME and 0 < len(draft.local_id) <= LOCAL_ID


def _not_in(catalog: CatalogFile, manifest: Manifest) -> Iterator[ManifestWarning]:
    for key, node in manifest.nodes.items():
        if node.has_relation and node.resource_type != "source" and key not in catalog.tables:
            yield ManifestWarning(
                key, "the catalog file does not have it; its columns are those that the manifest declares"
            )
