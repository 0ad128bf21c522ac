"""What a warehouse itself claims, in the catalogue's words: tables, columns, and what views read. No database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from catalog.sources.claims import COLUMN, LOCAL_ID, NAME, ColumnDraft, NodeDraft
from catalog.sources.manifest_types import ManifestWarning
from catalog.sources.naming import dialect_of, of_relation
from catalog.sources.view_code import Reads, reads
from catalog.warehouses.base import Relation, TableFacts
from foundation.canonical import sha256_hex


@dataclass(frozen=True)
class WarehouseClaims:
    """Nodes by their exact name in the warehouse, pairs (from, to) of these, and what could not be told."""

    nodes: dict[str, NodeDraft]
    edges: frozenset[tuple[str, str]]
    warnings: tuple[ManifestWarning, ...]


def claims(facts: Sequence[TableFacts], adapter: str, namespace: str) -> WarehouseClaims:
    """The claims of a warehouse of kind `adapter` about the datasets of `namespace`.

    A table whose name is longer than the catalogue takes is left out with a warning.
    """
    warnings: list[ManifestWarning] = []
    nodes: dict[str, NodeDraft] = {}
    for one in facts:
        draft = _draft(one, adapter, namespace)
        if len(draft.identity.name) <= NAME and len(draft.local_id) <= LOCAL_ID:
            nodes[draft.local_id] = draft
        else:
            warnings.append(ManifestWarning(draft.local_id[:LOCAL_ID], "its name is too long and it was left out"))
    edges = _edges([one for one in facts if local_id(one.relation) in nodes], adapter, warnings)
    return WarehouseClaims(nodes, edges, tuple(warnings))


def local_id(relation: Relation) -> str:
    """The exact name of a table as its source's own id; parts with dots in them are quoted, so that ids stay apart."""
    dotted = any("." in part for part in (relation.database, relation.schema, relation.name) if part)
    return relation.sql("postgres") if dotted else str(relation)


def _draft(one: TableFacts, adapter: str, namespace: str) -> NodeDraft:
    relation = one.relation
    columns = tuple(
        ColumnDraft(column.name, column.data_type, column.comment, column.nullable)
        for column in one.columns
        if len(column.name) <= COLUMN
    )
    return NodeDraft(
        local_id=local_id(relation),
        identity=of_relation((relation.database, relation.schema, relation.name), adapter, namespace),
        kind=one.kind,
        description=one.comment,
        attributes=_attributes(one, adapter, columns),
        columns=columns,
        measured=True,
    )


def _attributes(one: TableFacts, adapter: str, columns: Iterable[ColumnDraft]) -> dict[str, Any]:
    """What changes with the schema alone: sizes change all day and would make a version each time."""
    relation = one.relation
    always = {
        "kind": one.kind,
        "relation": {"database": relation.database, "schema": relation.schema, "identifier": relation.name},
        "adapter": adapter,
        "dialect": dialect_of(adapter),
        "columns": [[column.name, column.data_type, column.description] for column in columns],
    }
    sometimes = {
        "description": one.comment,
        "code_sha256": sha256_hex(one.definition.encode("utf-8", "replace")) if one.definition else "",
    }
    return always | {key: value for key, value in sometimes.items() if value}


def _edges(facts: Sequence[TableFacts], adapter: str, warnings: list[ManifestWarning]) -> frozenset[tuple[str, str]]:
    index = _Index(facts, adapter)
    found: set[tuple[str, str]] = set()
    for one in facts:
        if not one.definition:
            continue
        told, name = reads(one.definition, dialect_of(adapter)), local_id(one.relation)
        above, missing = index.all(told)
        found |= {(table, name) for table in above if table != name}
        reason = told.unsure or (f"it reads {', '.join(missing)}, of which it cannot be told which table it is")
        if told.unsure or missing:
            warnings.append(ManifestWarning(name, f"what it reads is not known in full: {reason}"))
    return frozenset(found)


class _Index:
    """The tables of one warehouse by the names that code uses."""

    def __init__(self, facts: Iterable[TableFacts], adapter: str) -> None:
        self.exact = adapter == "postgres"  # it prints every name as it is, quoted where it must be
        self.tables: dict[tuple[str, str], list[Relation]] = defaultdict(list)
        for one in facts:
            relation = one.relation
            for schema in ("", relation.schema or ""):
                self.tables[self._fold(schema), self._fold(relation.name)].append(relation)

    def all(self, told: Reads) -> tuple[set[str], list[str]]:
        """The ids of the tables that are meant for sure, and the names of those of which that cannot be said."""
        found, missing = set(), []
        for database, schema, name in told.tables:
            hits = [
                one
                for one in self.tables.get((self._fold(schema), self._fold(name)), ())
                if not database or self._fold(one.database or "") == self._fold(database)
            ]
            if len(hits) == 1:
                found.add(local_id(hits[0]))
            else:
                missing.append(".".join(part for part in (database, schema, name) if part))
        return found, missing

    def _fold(self, name: str) -> str:
        return name if self.exact else name.casefold()
