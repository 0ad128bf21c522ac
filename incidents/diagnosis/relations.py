"""From a table name in SQL to the node that builds it."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError

from catalog.sources.manifest import Manifest, Node


def node_of(manifest: Manifest | None, table: str, dialect: str) -> Node | None:
    """The node whose relation a table name means; None when none or more than one fits."""
    if manifest is None:
        return None
    try:
        wanted = exp.to_table(table, dialect=dialect)
    except SqlglotError:
        return None
    parts = [part.lower() for part in (wanted.catalog, wanted.db, wanted.name) if part]
    found = [node for node in manifest.nodes.values() if node.has_relation and _parts(node)[-len(parts) :] == parts]
    return found[0] if len(found) == 1 else None


def name_of(manifest: Manifest | None, table: str, dialect: str) -> str:
    """The name of the node behind a table, for sentences; the table as it stands in the SQL when none is known."""
    node = node_of(manifest, table, dialect)
    return node.name if node is not None else table


def _parts(node: Node) -> list[str]:
    return [(part or "").lower() for part in (node.database, node.schema, node.identifier)]
