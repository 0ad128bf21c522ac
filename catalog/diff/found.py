"""A change as it is found in one place of a query, on its way to a direction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from catalog.diff.effect import Effect
from catalog.diff.row_set_types import RowSetChange
from catalog.diff.selects import columns_in
from catalog.diff.stages import Stage


@dataclass(frozen=True)
class Found:
    """A change without its direction, what it does where it stands, and the clause that sees that first."""

    change: RowSetChange
    effect: Effect
    stage: Stage


def columns_of(nodes: Iterable[exp.Expr], select: exp.Select) -> tuple[tuple[str, str], ...]:
    """(table alias, column) of all columns that `nodes` read, once each."""
    return tuple(dict.fromkeys(column for node in nodes for column in columns_in(node, select)))


def text(nodes: Iterable[exp.Expr], dialect: str) -> str:
    """`nodes` in the dialect's SQL, with commas between them."""
    return ", ".join(node.sql(dialect=dialect or None) for node in nodes)
