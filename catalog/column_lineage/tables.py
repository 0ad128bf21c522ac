"""Which columns a table has, as far as the catalogue knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from catalog.column_lineage.values import Table

Schema: TypeAlias = Mapping[Table, Mapping[str, str]]
"""Columns and their types by table; a type is "" where nobody said it."""


class Tables:
    """The tables of a schema, found by what the SQL calls them.

    A name may have fewer parts than the table's (`orders` for `db.main.orders`) or more, as long as it means one.
    """

    def __init__(self, schema: Schema) -> None:
        self._columns = schema
        self._exact = set(schema)
        self._by_tail: dict[str, list[tuple[list[str], Table]]] = {}
        for table in schema:
            parts = _parts(table)
            self._by_tail.setdefault(parts[-1], []).append((parts, table))

    def named(self, table: Table) -> Table | None:
        """The one table of the schema that `table` means."""
        if table in self._exact:
            return table
        parts = _parts(table)
        found = [known for one, known in self._by_tail.get(parts[-1], []) if _same_tail(one, parts)]
        return found[0] if len(found) == 1 else None

    def columns(self, table: Table) -> Mapping[str, str]:
        """The columns of `table` in their order; empty where none is known."""
        known = self.named(table)
        return self._columns[known] if known is not None else {}


def complete(columns: Mapping[str, str]) -> bool:
    """Whether these are all columns of the table: a list without all types is what somebody wrote down of it."""
    return bool(columns) and all(columns.values())


def _parts(table: Table) -> list[str]:
    """The parts without case; a dot inside a quoted part parts too, since joined names no longer tell them apart."""
    return ".".join(table).casefold().split(".")


def _same_tail(one: list[str], other: list[str]) -> bool:
    size = min(len(one), len(other))
    return one[-size:] == other[-size:]
