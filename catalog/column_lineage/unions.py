"""Set operations: columns by position, or by name where the query says so or positions are not known."""

from __future__ import annotations

from sqlglot import exp

from catalog.column_lineage.relations import PASSED_ON, Relation, merged
from catalog.column_lineage.values import Value, either

_BY_NAME = "the columns of a set operation were matched by name, since not all of them are known"


def branches(query: exp.Expr) -> tuple[list[exp.Expr], bool]:
    """The queries of a chain of set operations from left to right, and whether any of them compares whole rows."""
    found: list[exp.Expr] = []
    current, distinct = query, False
    while isinstance(current, exp.SetOperation) and (current is query or not current.args.get("with_")):
        found.append(current.expression)
        distinct = distinct or bool(current.args.get("distinct")) or not isinstance(current, exp.Union)
        current = current.this
    return [current, *reversed(found)], distinct


def united(query: exp.Expr, parts: list[Relation], distinct: bool) -> Relation:
    """One relation of several whose rows follow each other."""
    by_name = bool(query.args.get("by_name"))
    closed = all(part.rest is None for part in parts) and len({len(part.columns) for part in parts}) == 1
    columns = _by_position(parts) if closed and not by_name else _by_name(parts, sure=by_name and closed)
    rows = frozenset().union(*(part.rows for part in parts))
    made = Relation(tuple(columns), merged(part.rest for part in parts), rows)
    if distinct:
        rows |= made.everything().sources
    return Relation(made.columns, made.rest, rows)


def _by_position(parts: list[Relation]) -> list[tuple[str, Value]]:
    return [
        (name, either([part.columns[place][1] for part in parts]))
        for place, (name, _) in enumerate(parts[0].columns)
    ]  # fmt: skip


def _by_name(parts: list[Relation], *, sure: bool) -> list[tuple[str, Value]]:
    names = dict.fromkeys(name for part in parts for name, _ in part.columns)
    found = []
    for name in names:
        value = either([value for part in parts if (value := part.column(name)) is not None])
        found.append((name, value if sure else value.doubted(PASSED_ON, _BY_NAME)))
    return found
