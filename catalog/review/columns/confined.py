"""The columns of a model that a change of its query is confined to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from catalog.column_lineage.tracing import UNKNOWN, trace
from catalog.diff.row_set import RowSetChange, combined
from catalog.diff.row_set_types import SAME_ROWS
from catalog.diff.selects import Selects, parse, without_ephemeral
from catalog.review.columns.dependent import dependent

KINDS = frozenset({"column_added", "column_removed", "column_renamed", "column_retyped", "column_reexpressed"})
_ELSEWHERE = ("where", "group", "having", "qualify", "joins", "windows", "distinct", "order", "laterals", "sort",
              "cluster", "distribute")  # fmt: skip
"""The parts of a SELECT in which a column of its own list may be meant by its name."""


def only_columns(changes: tuple[RowSetChange, ...], before: str, after: str, dialect: str) -> frozenset[str] | None:
    """The columns, in lower case, that differ after `changes` from the query `before` to `after`; None where the
    change may concern rows or all columns, or where that cannot be told.

    A change inside a CTE is followed up to the last SELECT: a column that the query then compares, joins or groups by
    confines nothing.
    """
    if not changes or combined(changes) != SAME_ROWS or any(change.kind not in KINDS for change in changes):
        return None
    found: set[str] = set()
    for scope in {change.scope for change in changes}:
        names = _names([change for change in changes if change.scope == scope], dialect)
        for sql in (before, after) if names else ():
            through = _through(sql, scope, frozenset(names or ()), dialect)
            if through is None:
                return None
            found |= through
        if not names:
            return None
    return frozenset(found)


def _names(changes: Iterable[RowSetChange], dialect: str) -> set[str] | None:
    """The columns that the changes name; None where one of them has none."""
    found: set[str] = set()
    for change in changes:
        for written in filter(None, (change.predicate, change.before)):
            try:
                items = sqlglot.parse_one(f"select {written}", dialect=dialect or None).expressions
            except (SqlglotError, RecursionError, ValueError):
                return None
            if len(items) != 1 or items[0].is_star or not items[0].alias_or_name:
                return None
            found.add(items[0].alias_or_name.lower())
    return found


def _through(sql: str, scope: str, names: frozenset[str], dialect: str) -> frozenset[str] | None:
    """The columns of the whole query that depend on the columns `names` of the SELECT at `scope`."""
    tree = parse(sql, dialect)
    if tree is None:
        return None
    select = Selects(without_ephemeral(tree)).by_path.get(scope)
    own = _of_list(select, names) if select is not None else None
    if own is None or not scope:
        return own
    cte = select.parent if select is not None else None
    if not isinstance(cte, exp.CTE) or "/" in scope or "[" in scope or "#" in scope:
        return None
    within = cte.parent
    cte.pop()
    if within is not None and not within.expressions:
        within.pop()
    table = (f"changed_{scope}",)
    for read in list(tree.find_all(exp.Table)):
        if read.name.lower() == scope and not read.db:
            if not read.args.get("alias"):
                read.set("alias", exp.TableAlias(this=read.this.copy()))
            read.set("this", exp.to_identifier(table[0]))
    found = trace(tree.sql(dialect=dialect or None), dialect=dialect, schema={table: dict.fromkeys(own, "")})
    if found.state == UNKNOWN:
        return None
    return dependent(found, {table: own})


def _of_list(select: exp.Select, names: frozenset[str]) -> frozenset[str] | None:
    """The columns `names` of a SELECT and those of its list that may read them by name; None where a condition
    may, and where one of them shares its name with another."""
    for key in _ELSEWHERE:
        part = select.args.get(key)
        for one in part if isinstance(part, list) else [part] if part is not None else []:
            if any(_means(column, names) for column in one.find_all(exp.Column)):
                return None
    found = set(names)
    listed = Counter(item.alias_or_name.lower() for item in select.expressions if not item.is_star)
    if any(listed[name] > 1 for name in names):
        return None  # which of them is read by the name is not known
    for _ in range(len(select.expressions)):
        more = {
            item.alias_or_name.lower()
            for item in select.expressions
            if item.alias_or_name
            and not item.is_star
            and not isinstance(item.unalias(), exp.Column)
            and any(_means(column, found - {item.alias_or_name.lower()}) for column in item.find_all(exp.Column))
        }
        if more <= found:
            break
        found |= more
    return frozenset(found)


def _means(column: exp.Column, names: Iterable[str]) -> bool:
    return not column.table and column.name.lower() in names
