"""Names of tables as the OpenLineage naming specification writes them, folded by each adapter's own rules.

Source: https://openlineage.io/docs/spec/naming (a dataset is a namespace and a name).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from catalog.sources.manifest_types import Node

_LOWER_ALWAYS = frozenset(
    {"duckdb", "redshift", "databricks", "spark", "athena", "glue", "trino", "presto", "starburst"}
)
"""Adapters that compare names without case even where they are quoted."""
_LOWER_UNQUOTED = frozenset({"postgres", "greenplum", "materialize", "risingwave", "alloydb"})
_UPPER_UNQUOTED = frozenset({"snowflake", "oracle", "exasol", "teradata"})
_QUOTES = {'"': '"', "`": "`", "[": "]"}
_NOT_QUOTED_BY_DEFAULT = frozenset({"snowflake", "oracle"})

_DIALECTS = {
    "duckdb": "duckdb", "postgres": "postgres", "greenplum": "postgres", "alloydb": "postgres", "redshift": "redshift",
    "snowflake": "snowflake", "bigquery": "bigquery", "databricks": "databricks", "spark": "spark", "glue": "spark",
    "trino": "trino", "starburst": "trino", "presto": "presto", "athena": "athena", "clickhouse": "clickhouse",
    "sqlserver": "tsql", "synapse": "tsql", "fabric": "fabric", "mysql": "mysql", "sqlite": "sqlite",
    "oracle": "oracle", "materialize": "materialize", "risingwave": "risingwave", "teradata": "teradata",
    "exasol": "exasol", "dremio": "dremio", "starrocks": "starrocks", "doris": "doris",
}  # fmt: skip


class DatasetName(NamedTuple):
    """A dataset's identity: the namespace of its connection and its name inside it."""

    namespace: str
    name: str


def dataset_name(node: Node, adapter: str, namespace: str) -> DatasetName:
    """The identity of `node`: `database.schema.identifier` for a table, the unique id for what has no table.

    Parts that the manifest does not give are left out, as adapters without databases do.
    """
    if not node.has_relation:
        return DatasetName(namespace, node.unique_id)
    parts = zip((node.database, node.schema, node.identifier), node.quoted, strict=True)
    return DatasetName(namespace, ".".join(fold(part, adapter, quoted=quoted) for part, quoted in parts if part))


def fold(name: str, adapter: str, *, quoted: bool) -> str:
    """`name` as the warehouse compares it; adapters that are not known keep it as written."""
    if adapter in _LOWER_ALWAYS:
        return name.lower()
    if quoted:
        return name
    if adapter in _LOWER_UNQUOTED:
        return name.lower()
    return name.upper() if adapter in _UPPER_UNQUOTED else name


def was_quoted(relation_name: str | None, adapter: str, quoting: Mapping[str, Any]) -> tuple[bool, bool, bool]:
    """Whether (database, schema, identifier) stand in quotes: as the relation's own text shows, else as configured."""
    keys = ("database", "schema", "identifier")
    if relation_name:
        marks = _parts_quoted(relation_name)
        if 1 <= len(marks) <= len(keys):
            padded = [False] * (len(keys) - len(marks)) + marks
            return padded[0], padded[1], padded[2]
    default = adapter not in _NOT_QUOTED_BY_DEFAULT
    database, schema, identifier = (default if quoting.get(key) is None else bool(quoting[key]) for key in keys)
    return database, schema, identifier


def dialect_of(adapter: str) -> str:
    """The sqlglot dialect of a dbt adapter; "" (a generic one) where there is none."""
    return _DIALECTS.get(adapter.lower(), "")


def _parts_quoted(relation_name: str) -> list[bool]:
    """One mark for each dotted part of a relation's text; a dot inside quotes does not part."""
    marks: list[bool] = []
    closing, start = "", True
    for character in relation_name:
        if start:
            marks.append(character in _QUOTES)
            closing, start = _QUOTES.get(character, ""), False
        elif closing:
            closing = "" if character == closing else closing
        elif character == ".":
            start = True
    return marks
