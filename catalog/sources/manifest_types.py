"""What a dbt manifest says, as frozen values; `manifest.read` makes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ManifestWarning:
    """Something odd in the file that was survived: the node it concerns ("" for the whole file) and why."""

    node: str
    reason: str


@dataclass(frozen=True, slots=True)
class Column:
    """A declared column; `data_type` is None when nobody declared it, `constraints` are types such as not_null."""

    name: str
    data_type: str | None = None
    description: str = ""
    constraints: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Owner:
    """Who an exposure or a group names; either field may be empty."""

    name: str = ""
    email: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """A source, seed, model, snapshot or exposure, or (in `Manifest.others`) what dbt knows besides these.

    `kind` is the catalog's word (model, source, dashboard, ...), `resource_type` dbt's own. `identifier` is the name
    of the table in the warehouse; it is "" for what has no table. `quoted` tells for (database, schema, identifier)
    whether the name was written in quotes. `external` marks a dependency that the file names but does not describe.
    `facets` holds the further raw fields that a comparison reads.
    """

    unique_id: str
    resource_type: str
    kind: str
    name: str
    package: str = ""
    version: str | None = None
    database: str | None = None
    schema: str | None = None
    identifier: str = ""
    relation_name: str | None = None
    quoted: tuple[bool, bool, bool] = (False, False, False)
    materialized: str = ""
    language: str = "sql"
    description: str = ""
    raw_code: str = ""
    compiled_code: str | None = None
    checksum: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    unrendered_config: Mapping[str, Any] | None = None
    columns: tuple[Column, ...] = ()
    depends_on: tuple[str, ...] = ()
    macros: tuple[str, ...] = ()
    path: str = ""
    patch_path: str | None = None
    fqn: tuple[str, ...] = ()
    group: str | None = None
    owner: Owner | None = None
    tags: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    exposure_type: str = ""
    url: str = ""
    enabled: bool = True
    external: bool = False
    facets: Mapping[str, Any] = field(default_factory=dict)

    @property
    def has_relation(self) -> bool:
        """Whether a table or view stands behind the node."""
        return bool(self.identifier) and self.materialized != "ephemeral"


@dataclass(frozen=True, slots=True)
class TestNode:
    """A dbt test: `name` is not_null, unique, ... (a singular test: its own name), `attached` the node it judges."""

    __test__ = False  # pytest would collect the name

    unique_id: str
    name: str
    package: str
    namespace: str = ""
    column: str | None = None
    attached: str | None = None
    severity: str = "error"
    depends_on: tuple[str, ...] = ()
    macros: tuple[str, ...] = ()
    generic: bool = False
    raw_code: str = ""
    compiled_code: str | None = None
    unrendered_config: Mapping[str, Any] | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    fqn: tuple[str, ...] = ()
    path: str = ""


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
    warnings: list[ManifestWarning] = field(default_factory=list)
    generated_at: str = ""
    invocation_id: str = ""
