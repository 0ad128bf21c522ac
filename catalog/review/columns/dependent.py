"""What of a query depends on some columns of the tables that it reads."""

from __future__ import annotations

from collections.abc import Mapping

from catalog.column_lineage.tracing import UNKNOWN, Traced
from catalog.column_lineage.values import Table
from catalog.review.types import Columns


def dependent(found: Traced, changed: Mapping[Table, Columns]) -> Columns:
    """The columns of a traced query that depend on the changed columns of the tables that it reads; all of them where
    one does that shares its name with another."""
    if found.state == UNKNOWN or any(columns is None and table in found.tables for table, columns in changed.items()):
        return None
    if any(_hit(source.table, source.column, changed) for source in found.rows):
        return None
    if any(_hit(source.table, source.column, changed) for value in found.repeated.values() for source in value.sources):
        return None  # which column of a name that several have a reader gets, and under what name, is not known
    hit = {
        name.lower()
        for name, value in found.columns.items()
        if any(_hit(source.table, source.column, changed) for source in value.sources)
    }
    if found.rest is not None and any(source.table in changed for source in found.rest.sources):
        if found.passed is None or found.passed not in changed:
            return None
        hit |= (changed[found.passed] or frozenset()) - found.without
    return frozenset(hit)


def _hit(table: Table, column: str | None, changed: Mapping[Table, Columns]) -> bool:
    if table not in changed:
        return False
    columns = changed[table]
    return columns is None or column is None or column.lower() in columns
