"""What a manifest claims, in the catalogue's own words: assets, their columns, and what feeds what. No database.

Drafts are made one by one, for those nodes that are not as they were: `mark` is a digest of all that a draft is made
of, at a tenth of the cost of making it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import orjson

from catalog.sources import manifest_columns
from catalog.sources.catalog_file import CatalogFile, TableEntry
from catalog.sources.lazy import lazy
from catalog.sources.manifest import dataset_name, edges
from catalog.sources.manifest_types import Manifest, ManifestWarning, Node
from catalog.sources.naming import DatasetName, dialect_of

NAMESPACE, NAME, LOCAL_ID, COLUMN, TYPE = 300, 500, 500, 300, 200
"""The longest texts that the tables take."""
IDENTITY_BYTES: Final = 2600
"""PostgreSQL takes 2704 bytes in one row of an index, and a letter may have four."""
MARK: Final = "mark"
"""The attribute that holds the mark of the node that a claim was made of."""
FORM: Final = 1
"""Raised when drafts of the same node become other ones, so that no mark of before hides it."""
_MARKED: Final = (
    "resource_type", "name", "alias", "identifier", "package_name", "version", "database", "schema", "relation_name",
    "quoting", "description", "checksum", "original_file_path", "patch_path", "group", "owner", "tags", "url", "label",
    "type",
)  # fmt: skip
_MARKED_CONFIG: Final = ("materialized", "quoting", "group", "tags")


class ColumnDraft(NamedTuple):
    """A column as one artifact describes it; `nullable` is None where it does not say."""

    name: str
    data_type: str = ""
    description: str = ""
    nullable: bool | None = None


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
    names: tuple[str, ...] = field(default=())

    def with_columns(self, columns: tuple[ColumnDraft, ...]) -> NodeDraft:
        """The same with these columns."""
        return replace(self, columns=columns)


class Claims:
    """All that one manifest claims about the datasets of `namespace`, with the columns of `catalog` where it has the
    table: nodes by dbt's unique ids, and pairs (from, to) of these."""

    def __init__(self, manifest: Manifest, namespace: str, catalog: CatalogFile | None = None) -> None:
        self.manifest, self.namespace, self.catalog = manifest, namespace, catalog
        self.nodes: Mapping[str, Node] = manifest.nodes
        # A table without a single column was not looked into: it takes away nothing that is known.
        self.tables = {key: table for key, table in catalog.tables.items() if table.columns} if catalog else {}
        self._dialect = dialect_of(manifest.adapter)
        self._drafts: dict[str, NodeDraft] = {}

    @lazy
    def edges(self) -> set[tuple[str, str]]:
        return edges(self.manifest)

    def mark(self, name: str) -> str:
        """The digest of all that the draft of this node is made of but its namespace; "" for a node that has to be
        looked at each time (an exposure, a dependency of which nothing is known)."""
        node = self.nodes[name]
        if node.external or node.resource_type == "exposure":
            return ""
        get, config = node.raw.get, node.config.get
        owner = self.manifest.group_owners.get(node.group or "") if self.manifest.group_owners else None
        kept = (
            FORM, self.manifest.adapter, node.resource_type, node.depends_on, manifest_columns.outline(get("columns")),
            tuple(map(get, _MARKED)), tuple(map(config, _MARKED_CONFIG)), owner,
        )  # fmt: skip
        try:
            return hashlib.sha256(orjson.dumps(kept)).hexdigest()[:16]
        except TypeError:  # a number that no 64 bits hold
            return ""

    def draft(self, name: str) -> NodeDraft:
        """The draft of one node, without columns."""
        if name not in self._drafts:
            self._drafts[name] = self._draft(self.nodes[name])
        return self._drafts[name]

    def columns(self, name: str) -> tuple[ColumnDraft, ...]:
        """The columns of one node: the warehouse's where the catalog file has them, else those declared."""
        declared = _declared(self.nodes[name].written_columns)
        table = self.tables.get(name)
        return _measured(table, declared) if table else declared

    def warnings(self) -> Iterator[ManifestWarning]:
        """What the two files showed to be odd."""
        yield from self.manifest.warnings
        if self.catalog:
            yield from self.catalog.warnings
            yield from _not_in(self.catalog, self.manifest)

    def forget(self) -> None:
        """Let go of what was read: frames that errors and queries keep would hold it until garbage is collected."""
        for part in (self.manifest.nodes, self.manifest.others, self.manifest.disabled, self.manifest.macros):
            part.clear()
        self.manifest.tests.clear()
        self._drafts.clear()

    def _draft(self, node: Node) -> NodeDraft:
        reader = node.resource_type == "exposure"
        return NodeDraft(
            local_id=node.unique_id,
            identity=dataset_name(node, self.manifest.adapter, self.namespace),
            kind=node.kind,
            description=node.description,
            attributes=_attributes(node, self.manifest.adapter, self._dialect),
            measured=node.unique_id in self.tables,
            external=node.external,
            reader=reader,
            names=(node.name, _label(node)) if reader else (),
        )


def fits(draft: NodeDraft) -> bool:
    """Whether the tables take its names."""
    namespace, name = draft.identity
    if len(namespace) > NAMESPACE or not 0 < len(name) <= NAME or not 0 < len(draft.local_id) <= LOCAL_ID:
        return False
    return len(name) + len(namespace) < IDENTITY_BYTES // 4 or len((namespace + name).encode()) <= IDENTITY_BYTES


def _attributes(node: Node, adapter: str, dialect: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kind": node.kind,
        "resource_type": node.resource_type,
        "name": node.name,
        "materialized": node.materialized,
        "package": node.package,
        "path": node.path,
        "patch_path": node.patch_path,
        "checksum": node.checksum,
        "relation": _relation(node),
        "adapter": adapter,
        "dialect": dialect,
        "depends_on": list(node.depends_on),
    }
    sometimes = (
        ("columns", manifest_columns.digest(node.written_columns)), ("description", node.description),
        ("version", node.version), ("tags", list(node.tags)), ("group", node.group),
        ("owner", node.owner and {"name": node.owner.name, "email": node.owner.email}),
        ("label", _label(node)), ("url", node.url), ("external", node.external),
    )  # fmt: skip
    found.update(pair for pair in sometimes if pair[1])
    return found


def _relation(node: Node) -> dict[str, str | None] | None:
    if not node.has_relation:
        return None
    return {"database": node.database, "schema": node.schema, "identifier": node.identifier}


def _label(node: Node) -> str:
    label = node.raw.get("label")
    return label if isinstance(label, str) else ""


def _declared(written: object) -> tuple[ColumnDraft, ...]:
    return tuple(
        ColumnDraft(name, data_type[:TYPE], description)
        for name, data_type, description in manifest_columns.kept(written)
        if 0 < len(name) <= COLUMN
    )


def _measured(table: TableEntry, declared: tuple[ColumnDraft, ...]) -> tuple[ColumnDraft, ...]:
    """The warehouse's columns in its order; what was written about them in the manifest goes before its comments."""
    written = {column.name.casefold(): column.description for column in declared}
    return tuple(
        ColumnDraft(column.name, column.data_type[:TYPE], written.get(column.name.casefold()) or column.comment)
        for column in table.columns
        if 0 < len(column.name) <= COLUMN
    )


def _not_in(catalog: CatalogFile, manifest: Manifest) -> Iterator[ManifestWarning]:
    for key, node in manifest.nodes.items():
        if node.has_relation and node.resource_type != "source" and key not in catalog.tables:
            yield ManifestWarning(
                key, "the catalog file does not have it; its columns are those that the manifest declares"
            )
