"""What a dbt manifest says; `manifest.read` makes it."""

from __future__ import annotations

from dataclasses import dataclass, field

from catalog.sources.manifest_columns import Column
from catalog.sources.manifest_entry import Owner
from catalog.sources.manifest_node import Node
from catalog.sources.manifest_test import TestNode

__all__ = ["Column", "Macro", "Manifest", "ManifestWarning", "Node", "Owner", "TestNode"]


@dataclass(frozen=True, slots=True)
class ManifestWarning:
    """Something odd in the file that was survived: the node it concerns ("" for the whole file) and why."""

    node: str
    reason: str


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro's text and the macros it calls."""

    unique_id: str
    sql: str
    macros: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """A whole manifest. `nodes` are assets by unique id, `others` metrics, semantic models, functions and the like.

    `schema_version` is None when the file does not say (old and foreign writers), else "v12" and so on.
    """

    schema_version: str | None
    project: str
    adapter: str
    dbt_version: str
    nodes: dict[str, Node]
    others: dict[str, Node] = field(default_factory=dict)
    disabled: dict[str, Node] = field(default_factory=dict)
    tests: list[TestNode] = field(default_factory=list)
    macros: dict[str, Macro] = field(default_factory=dict)
    group_owners: dict[str, Owner] = field(default_factory=dict)
    warnings: list[ManifestWarning] = field(default_factory=list)
    generated_at: str = ""
    invocation_id: str = ""
