"""Dataset names (OpenLineage naming specification) and the relations that they name."""

from __future__ import annotations

from catalog.warehouses.base import Relation


def relation(database: str | None, schema: str | None, name: str) -> Relation:
    """A relation from exact names; empty strings count as absent. BadInput for a nameless one."""
    return Relation(database or None, schema or None, name)


def dataset_name(relation: Relation) -> str:
    """The `name` half of a dataset name: `database.schema.table`, absent parts left out."""
    return str(relation)
