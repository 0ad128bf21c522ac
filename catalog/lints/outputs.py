"""The columns that a model gives out, as its catalog, its contract or its last SELECT tells them."""

from __future__ import annotations

from sqlglot import exp

from catalog.lints.query import read
from catalog.lints.types import ColumnState, ModelState, bare


def outputs(model: ModelState) -> dict[str, ColumnState] | None:
    """Columns by bare name, with what is known of each; None where a `*` or unread SQL leaves them untold."""
    if model.columns is not None:
        return {bare(column.name): column for column in model.columns}
    query = read(model)
    tree = query.selects.tree if query is not None else None
    while isinstance(tree, exp.SetOperation | exp.Subquery):
        tree = tree.this
    if not isinstance(tree, exp.Select) or any(item.is_star or not item.alias_or_name for item in tree.expressions):
        return None
    return {bare(item.alias_or_name): ColumnState(item.alias_or_name) for item in tree.expressions}


def removed(before: ModelState | None, after: ModelState) -> list[str]:
    """The names that `before` gave out and `after` does not; empty where either is not known."""
    old, new = outputs(before) if before is not None else None, outputs(after)
    return (
        [column.name for name, column in old.items() if name not in new] if old is not None and new is not None else []
    )
