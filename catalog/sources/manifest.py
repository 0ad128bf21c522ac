"""Reading a dbt manifest of any version: bytes in, a `Manifest` out, with a warning for each oddity (D8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from catalog.sources import artifact, manifest_columns
from catalog.sources.artifact import mapping, strings, text
from catalog.sources.lazy import lazy
from catalog.sources.manifest_edges import edges
from catalog.sources.manifest_entry import owner_of
from catalog.sources.manifest_node import OTHERS, RELATIONAL
from catalog.sources.manifest_types import Column, Macro, Manifest, ManifestWarning, Node, Owner, TestNode
from catalog.sources.naming import DatasetName, dataset_name
from foundation.errors import BadInput

__all__ = [
    "Column",
    "DatasetName",
    "Macro",
    "Manifest",
    "ManifestWarning",
    "Node",
    "Owner",
    "TestNode",
    "dataset_name",
    "edges",
    "read",
    "read_file",
]

KNOWN_VERSIONS = (*range(1, 13), 20)
"""dbt Core writes v1 to v12, dbt Fusion v12 and v20."""

_COLLECTIONS = (
    "nodes",
    "sources",
    "exposures",
    "metrics",
    "semantic_models",
    "saved_queries",
    "unit_tests",
    "functions",
)


def read(data: bytes) -> Manifest:
    """The manifest in `data` (the bytes of manifest.json).

    One strange node never loses the rest: it is left out, or read in part, with a warning. BadInput, with one
    sentence, when the whole file is not a manifest of a known version.
    """
    document = artifact.load(data, "manifest")
    version = artifact.schema_version(document, "manifest")
    _require_nodes(document)
    reader = _Reader(document, version)
    strange = artifact.strange_version(document, "manifest", KNOWN_VERSIONS)
    if strange:
        reader.warn("", strange)
    return reader.manifest()


def read_file(path: Path) -> Manifest:
    """The manifest in the file at `path`; BadInput as `read`, or when the file cannot be read."""
    return read(artifact.read_bytes(path, "manifest"))


def _require_nodes(document: Mapping[str, Any]) -> None:
    nodes = document.get("nodes")
    if nodes is None:
        word = (
            "this is a dbt run results file, not a manifest" if "results" in document else "the manifest has no nodes"
        )
        raise BadInput(word)
    if not isinstance(nodes, dict):
        raise BadInput("the nodes of the manifest are not an object by unique id")
    entries = [item for item in nodes.values() if isinstance(item, dict)]
    if entries and all(isinstance(item.get("stats"), dict) and "resource_type" not in item for item in entries):
        raise BadInput("this is a dbt catalog file, not a manifest")


class _Reader:
    """One reading: the document, and what has been found odd so far."""

    def __init__(self, document: Mapping[str, Any], version: str | None) -> None:
        self.document = document
        self.metadata = mapping(document.get("metadata"))
        self.adapter = text(self.metadata.get("adapter_type")).lower()
        self.manifest_version = version
        self.warnings: list[ManifestWarning] = []
        self.groups = _group_owners(document)

    def manifest(self) -> Manifest:
        nodes: dict[str, Node] = {}
        others: dict[str, Node] = {}
        disabled: dict[str, Node] = {}
        tests: list[TestNode] = []
        for unique_id, raw in self._entries():
            resource_type = _resource_type(unique_id, raw)
            parents = self._parents_of(unique_id, raw)
            if resource_type == "test":
                tests.append(TestNode(unique_id, raw, parents))
                continue
            node = self._node(unique_id, resource_type, raw, parents)
            place = others if resource_type in OTHERS else nodes
            (place if node.enabled else disabled)[unique_id] = node
        nodes.update(self._externals(nodes, others))
        return Manifest(
            schema_version=self.manifest_version,
            project=text(self.metadata.get("project_name")) or _only_package(nodes),
            adapter=self.adapter,
            dbt_version=text(self.metadata.get("dbt_version")),
            nodes=nodes,
            others=others,
            disabled=disabled | self._disabled(),
            tests=tests,
            macros=dict(self._macros()),
            group_owners=self.groups,
            warnings=self.warnings,
            generated_at=text(self.metadata.get("generated_at")),
            invocation_id=text(self.metadata.get("invocation_id")),
        )

    def warn(self, unique_id: str, reason: str) -> None:
        self.warnings.append(ManifestWarning(unique_id, reason))

    def _entries(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for collection in _COLLECTIONS:
            value = self.document.get(collection)
            if value is not None and not isinstance(value, dict):
                self.warn("", f"{collection} is not an object and was left out")
            for unique_id, raw in mapping(value).items():
                if isinstance(raw, dict) and unique_id:
                    yield unique_id, raw
                else:
                    self.warn(unique_id, "the entry is not an object and was left out")

    def _node(self, unique_id: str, resource_type: str, raw: Mapping[str, Any], parents: tuple[str, ...]) -> Node:
        enabled = mapping(raw.get("config")).get("enabled") is not False
        node = Node(unique_id, resource_type, raw, parents, adapter=self.adapter, groups=self.groups, enabled=enabled)
        if enabled and resource_type in RELATIONAL and not node.schema:
            self.warn(unique_id, "the node names no schema")
        manifest_columns.look(raw.get("columns"), lambda reason: self.warn(unique_id, reason))
        return node

    @lazy
    def _parents(self) -> Mapping[str, Sequence[str]]:
        """parent_map, or child_map turned round: the fall-back of a node whose own depends_on is missing."""
        given = mapping(self.document.get("parent_map"))
        if given:
            return given
        parents: dict[str, list[str]] = {}
        for parent, children in mapping(self.document.get("child_map")).items():
            for child in strings(children):
                parents.setdefault(child, []).append(parent)
        return parents

    def _parents_of(self, unique_id: str, raw: Mapping[str, Any]) -> tuple[str, ...]:
        depends_on = mapping(raw.get("depends_on"))
        named = strings(depends_on.get("nodes"))
        if not named:
            places = artifact.sequence(depends_on.get("nodes_with_ref_location"))
            named = strings([item[0] for item in places if item and isinstance(item, list)])
        if not named:
            named = strings(self._parents.get(unique_id))
        return named if unique_id not in named else tuple(parent for parent in named if parent != unique_id)

    def _externals(self, nodes: Mapping[str, Node], others: Mapping[str, Node]) -> dict[str, Node]:
        """Dependencies that the file names but does not describe: other projects, disabled or deleted nodes."""
        missing = {
            parent: node.unique_id
            for node in (*nodes.values(), *others.values())
            for parent in node.depends_on
            if parent not in nodes and parent not in others
        }
        for parent, child in missing.items():
            self.warn(child, f"depends on {parent}, which the manifest does not describe")
        return {parent: Node(parent, parent.partition(".")[0], external=True) for parent in missing}

    def _disabled(self) -> dict[str, Node]:
        entries = artifact.objects(self.document.get("disabled"))
        flat = ((key, item) for key, value in entries for item in (value if isinstance(value, list) else [value]))
        return {
            key: Node(key, _resource_type(key, item), item, enabled=False)
            for key, item in flat
            if key and isinstance(item, dict)
        }

    def _macros(self) -> Iterator[tuple[str, Macro]]:
        for unique_id, raw in artifact.objects(self.document.get("macros")):
            entry = mapping(raw)
            if unique_id and entry:
                calls = strings(mapping(entry.get("depends_on")).get("macros"))
                yield unique_id, Macro(unique_id, text(entry.get("macro_sql")), calls)


def _group_owners(document: Mapping[str, Any]) -> dict[str, Owner]:
    """The owner of each group that names one, by the group's name."""
    groups = (mapping(item) for item in mapping(document.get("groups")).values())
    found = {text(group.get("name")): owner_of(group.get("owner")) for group in groups}
    return {name: owner for name, owner in found.items() if name and owner}


def _resource_type(unique_id: str, raw: Mapping[str, Any]) -> str:
    return text(raw.get("resource_type")).lower() or unique_id.partition(".")[0]


def _only_package(nodes: Mapping[str, Node]) -> str:
    """Before v10 the file does not name its project: the package of most models is it."""
    packages = [node.package for node in nodes.values() if node.resource_type == "model"]
    return max(sorted(set(packages)), key=packages.count, default="")
