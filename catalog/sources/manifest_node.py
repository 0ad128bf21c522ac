"""A node of a manifest in the catalogue's words; each property reads one field as every dbt version writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from catalog.sources.artifact import mapping, strings, text
from catalog.sources.lazy import lazy
from catalog.sources.manifest_columns import NOTHING, Column, columns_of
from catalog.sources.manifest_entry import Entry, Owner, owner_of
from catalog.sources.naming import was_quoted

RELATIONAL = frozenset({"source", "seed", "model", "snapshot"})
OTHERS = frozenset({
    "metric", "semantic_model", "saved_query", "unit_test", "function", "analysis", "operation", "sql_operation", "sql",
    "rpc", "macro", "doc", "group", "fixture",
})  # fmt: skip
"""What dbt knows besides assets; lineage passes through these."""

EXPOSURE_KINDS = {
    "dashboard": "dashboard",
    "notebook": "notebook",
    "ml": "ml_model",
    "analysis": "report",
    "application": "stream",
}
"""dbt's exposure types in the catalog's words; an unknown type is a report."""

_FACETS = (
    "label", "maturity", "type", "freshness", "loaded_at_field", "loaded_at_query", "external", "quoting",
    "unrendered_database", "unrendered_schema", "latest_version", "access", "deprecation_date", "contract",
    "primary_key", "model", "measures", "dimensions", "entities", "defaults", "primary_entity", "type_params",
    "filter", "query_params", "exports", "arguments", "returns", "checksum", "constraints", "refs",
)  # fmt: skip


class Node(Entry):
    """A source, seed, model, snapshot or exposure, or (in `Manifest.others`) what dbt knows besides these.

    `resource_type` is dbt's word. `external` marks a dependency that the file names but does not describe.
    """

    def __init__(
        self,
        unique_id: str,
        resource_type: str,
        raw: Mapping[str, Any] = NOTHING,
        depends_on: tuple[str, ...] = (),
        *,
        adapter: str = "",
        groups: Mapping[str, Owner] = NOTHING,
        enabled: bool = True,
        external: bool = False,
    ) -> None:
        self.unique_id, self.raw, self.depends_on = unique_id, raw, depends_on
        self.resource_type, self.enabled, self.external = resource_type, enabled, external
        self._adapter, self._groups = adapter, groups

    @lazy
    def kind(self) -> str:
        """The catalog's word: model, source, dashboard, ...; `table` where the file says nothing."""
        if self.resource_type == "exposure":
            return EXPOSURE_KINDS.get(text(self.raw.get("type")).lower(), "report")
        known = self.resource_type in RELATIONAL or (self.resource_type in OTHERS and self.raw is not NOTHING)
        return self.resource_type if known else "table"

    @lazy
    def name(self) -> str:
        if self.raw is NOTHING:
            rest = self.unique_id.partition(".")[2]
            return rest.partition(".")[2] or rest or self.unique_id
        return text(self.raw.get("name")) or self.unique_id.rpartition(".")[2] or self.unique_id

    @lazy
    def version(self) -> str | None:
        return text(self.raw.get("version")) or None

    @lazy
    def database(self) -> str | None:
        return _name(self.raw.get("database")) if self.resource_type in RELATIONAL else None

    @lazy
    def schema(self) -> str | None:
        return _name(self.raw.get("schema")) if self.resource_type in RELATIONAL else None

    @lazy
    def identifier(self) -> str:
        """The name of the table in the warehouse; "" for what has no table."""
        if self.resource_type not in RELATIONAL:
            return ""
        key = "identifier" if self.resource_type == "source" else "alias"
        return text(self.raw.get(key)) or text(self.raw.get("name"))

    @lazy
    def relation_name(self) -> str | None:
        return text(self.raw.get("relation_name")) or None

    @lazy
    def quoted(self) -> tuple[bool, bool, bool]:
        """Whether (database, schema, identifier) are written in quotes."""
        written = self.relation_name
        if written and written.count('"') == 6 and written.count(".") == 2:  # the form of most adapters
            return True, True, True
        return was_quoted(
            written, self._adapter, mapping(self.raw.get("quoting")) or mapping(self.config.get("quoting"))
        )

    @lazy
    def materialized(self) -> str:
        return text(self.config.get("materialized")) or ("seed" if self.resource_type == "seed" else "")

    @property
    def has_relation(self) -> bool:
        """Whether a table or view stands behind the node."""
        return bool(self.identifier) and self.materialized != "ephemeral"

    @lazy
    def language(self) -> str:
        return text(self.raw.get("language")) or "sql"

    @lazy
    def description(self) -> str:
        return text(self.raw.get("description"))

    @lazy
    def checksum(self) -> str | None:
        """None for a path, which dbt writes for seeds over 1 MiB, whose content it does not read."""
        written = self.raw.get("checksum")
        entry = mapping(written)
        digest = text(entry.get("checksum")) or (written if isinstance(written, str) else "")
        return None if not digest or text(entry.get("name")) in ("none", "path") else digest

    @property
    def written_columns(self) -> object:
        """The declared columns as the file has them."""
        return self.raw.get("columns")

    @lazy
    def columns(self) -> tuple[Column, ...]:
        """The declared columns."""
        return columns_of(self.written_columns)

    @lazy
    def patch_path(self) -> str | None:
        written = text(self.raw.get("patch_path"))
        return written.partition("://")[2] or written or None

    @lazy
    def group(self) -> str | None:
        return text(self.raw.get("group")) or text(self.config.get("group")) or None

    @lazy
    def owner(self) -> Owner | None:
        return owner_of(self.raw.get("owner")) or self._groups.get(self.group or "")

    @lazy
    def tags(self) -> tuple[str, ...]:
        return strings(self.raw.get("tags")) or strings(self.config.get("tags"))

    @lazy
    def meta(self) -> Mapping[str, Any]:
        return mapping(self.raw.get("meta")) or mapping(self.config.get("meta"))

    @lazy
    def url(self) -> str:
        return text(self.raw.get("url"))

    @lazy
    def facets(self) -> Mapping[str, Any]:
        """The further raw fields that a comparison of two manifests reads."""
        return {key: value for key in _FACETS if (value := self.raw.get(key)) is not None}


def _name(value: object) -> str | None:
    """A database or schema; Oracle and Spark adapters write the word None."""
    name = text(value)
    return None if name in ("", "None", "none", "null") else name
