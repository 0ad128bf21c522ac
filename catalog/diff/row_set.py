"""What a change of SQL does to the set of rows: a comparison of two trees, SELECT by SELECT.

A direction is given only where it follows from the algebra of the query; `unknown` otherwise (D7).
"""

from __future__ import annotations

import logging
from dataclasses import replace

from sqlglot import exp

from catalog.diff import direction, selects
from catalog.diff.compare_queries import differences
from catalog.diff.cosmetic import in_the_words_of
from catalog.diff.effect import told
from catalog.diff.row_set_types import UNKNOWN, RowSetChange, combined
from catalog.diff.same import same_tokens
from catalog.diff.scopes import Scopes
from catalog.diff.selects import Selects
from catalog.diff.steps import counted

_log = logging.getLogger(__name__)

__all__ = ["RowSetChange", "classify", "combined", "same_query", "unknown"]


def classify(base_sql: str, head_sql: str, dialect: str, basis: str = "compiled") -> list[RowSetChange]:
    """The changes from `base_sql` to `head_sql`, in the order of the head query; empty when only the form differs.

    `dialect` is sqlglot's name. SQL that cannot be read or compared gives one `unknown` that says so; nothing is
    raised, since the parser may fail in its own ways on SQL that nobody foresaw.
    """
    if base_sql == head_sql:
        return []
    try:
        return _classified(base_sql, head_sql, dialect, basis)
    except RecursionError:
        return [unknown("the SQL is nested too deeply to be compared", basis=basis)]
    except Exception:
        _log.warning("Two queries could not be compared", exc_info=True)
        return [unknown("the SQL could not be compared", basis=basis)]


def same_query(base_sql: str, head_sql: str, dialect: str) -> bool:
    """Whether both texts are one query but for form and pasted-in ephemeral models. Raises nothing."""
    return not classify(base_sql, head_sql, dialect)


def unknown(note: str, *, scope: str = "", basis: str = "compiled") -> RowSetChange:
    """A change of which nothing is known but that it is one."""
    return RowSetChange(kind="unknown", direction=UNKNOWN, scope=scope, note=note, basis=basis)


def _classified(base_sql: str, head_sql: str, dialect: str, basis: str) -> list[RowSetChange]:
    before, after = selects.parse(base_sql, dialect), selects.parse(head_sql, dialect)
    if before is None or after is None:
        if same_tokens(base_sql, head_sql, dialect):
            return []
        side = "before" if before is None else "after"
        return [unknown(f"the SQL {side} the change could not be read as one query", basis=basis)]
    head = Selects(selects.without_ephemeral(after))
    with counted():
        found = _changes(head, in_the_words_of(selects.without_ephemeral(before), head, dialect), dialect)
    return [replace(change, basis=basis) for change in found]


def _changes(after: Selects, before_tree: exp.Expr, dialect: str) -> list[RowSetChange]:
    before = Selects(before_tree, like=after)
    scopes = Scopes(before), Scopes(after)
    found = list(differences(*scopes, dialect))
    whole = direction.of_steps(*scopes, [step for _, step in found])
    return [
        replace(
            change,
            scope=step.path,
            direction=direction.of_steps(*scopes, [step]),
            local_direction=told(step.effect.direction),
            whole=whole,
        )
        for change, step in found
    ]
