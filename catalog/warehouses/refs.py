"""Dataset names (OpenLineage naming specification) and the relations that they name."""

from __future__ import annotations

from catalog.warehouses.base import Relation
from foundation.errors import BadInput


def relation(database: str | None, schema: str | None, name: str) -> Relation:
    """A relation from exact names; empty strings count as absent. BadInput for a nameless one."""
    return Relation(database or None, schema or None, name)


def dataset_name(relation: Relation) -> str:
    """The `name` half of a dataset name: `database.schema.table`, absent parts left out."""
    return str(relation)


def relation_of(name: str) -> Relation:
    """The relation that a dataset name means. Raises BadInput when it has no or more than three parts:
    the specification knows no quoting, so a dot inside a part cannot be told from a separator."""
    parts = name.split(".")
    if len(parts) > 3 or not all(parts):
        raise BadInput(f"the dataset name {name!r} is not of the form database.schema.table")
    padded: list[str | None] = [None] * (3 - len(parts)) + list(parts)
    return Relation(padded[0], padded[1], parts[-1])
