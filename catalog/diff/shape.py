"""What a SELECT writes a row for: each row it reads, each group of them, or all of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from sqlglot import exp

MULTIPLIES_ROWS = (
    exp.Explode,
    exp.Posexplode,
    exp.Unnest,
    exp.Inline,
    exp.UDTF,
    exp.GenerateSeries,
    exp.ExplodingGenerateSeries,
)
COUNTS_ROWS = (exp.AggFunc, exp.AnonymousAggFunc)
_NUMBERS_ROWS = (exp.RowNumber,)


class Shape(Enum):
    """A row for each row read, for each group, for all together, or not told."""

    ROWS = "rows"
    GROUPS = "groups"
    ONE = "one"
    ODD = "odd"


def shape_of(select: exp.Select) -> Shape:
    """How the rows that `select` reads become those that it writes, before QUALIFY, DISTINCT and LIMIT."""
    if any(select.args.get(name) for name in ("match", "connect", "sample", "pivots")):
        return Shape.ODD
    if select.args.get("group"):
        return Shape.GROUPS
    if any(folds(item) for item in select.expressions) or select.args.get("having"):
        return Shape.ONE
    unknown_function = any(item.find(exp.Anonymous, exp.AnonymousAggFunc) for item in select.expressions)
    plain = any(item.is_star or isinstance(item.unalias(), exp.Column) for item in select.expressions)
    return Shape.ODD if unknown_function and not plain else Shape.ROWS


def folds(item: exp.Expr) -> bool:
    """Whether `item` holds an aggregate over the rows of its own SELECT."""
    return any(True for _ in aggregates(item))


def aggregates(item: exp.Expr) -> Iterator[exp.Expr]:
    """The aggregates in `item` that are no window functions and not inside of a subquery."""
    for found in item.find_all(*COUNTS_ROWS):
        if not isinstance(found, exp.WithinGroup) and not _shielded(found, item):
            yield found


def group_keys(select: exp.Select) -> list[exp.Expr]:
    """The expressions that GROUP BY compares, with numbers and names of the select list put in full."""
    group = select.args.get("group")
    if group is None:
        return []
    written = list(group.expressions)
    for name in ("grouping_sets", "rollup", "cube"):
        for node in group.args.get(name) or ():
            written += list(node.expressions) if isinstance(node, exp.Expr) else []
    if group.args.get("all"):
        written += [item.unalias() for item in select.expressions if not folds(item)]
    return [in_full(node, select) for node in written]


def in_full(node: exp.Expr, select: exp.Select) -> exp.Expr:
    """`node` of GROUP BY or DISTINCT ON: a number or a name of the select list stands for that item.

    A name that may mean a column as well stands for both.
    """
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
        place = int(node.name) - 1
        return select.expressions[place].unalias() if 0 <= place < len(select.expressions) else node
    if not isinstance(node, exp.Column) or node.table:
        return node
    named = [
        item for item in select.expressions if isinstance(item, exp.Alias) and item.alias.lower() == node.name.lower()
    ]
    if not named:
        return node
    meant = named[0].unalias()
    if isinstance(meant, exp.Column) and meant.name.lower() == node.name.lower():
        return meant
    if any(column.name.lower() == node.name.lower() for column in meant.find_all(exp.Column)):
        return exp.Tuple(expressions=[node.copy(), meant.copy()])
    return meant


def with_aliases_in_full(condition: exp.Expr, select: exp.Select) -> exp.Expr:
    """A copy of HAVING or QUALIFY in which names of computed items of the select list stand for what they are."""
    named = {item.alias.lower(): item.unalias() for item in select.expressions if isinstance(item, exp.Alias)}

    def meant(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and not node.table and node.name.lower() in named:
            found = named[node.name.lower()]
            if not any(column.name.lower() == node.name.lower() for column in found.find_all(exp.Column)):
                return found.copy()
        return node

    return condition.copy().transform(meant)


def with_readers(select: exp.Select, changed: set[str]) -> frozenset[str]:
    """The names of the changed items of the select list, and of those that name them."""
    found = set(changed)
    for item in select.expressions:
        named = {column.name.lower() for column in item.find_all(exp.Column) if not column.table}
        if named & found and not isinstance(item.unalias(), exp.Column):
            found.add(item.alias_or_name.lower() or "*")
    return frozenset(found)


def fixed_rank(condition: exp.Expr) -> tuple[exp.Window, exp.Expr, int, bool] | None:
    """(window, its side, n, whether just one rank) of `row_number() over (...) = n`, `<= n`, `< n`; else None."""
    inner = condition.unnest()
    if not isinstance(inner, exp.EQ | exp.LTE | exp.LT):
        return None
    window, bound = inner.this.unnest(), inner.expression.unnest()
    if not isinstance(window, exp.Window) or not isinstance(window.this, _NUMBERS_ROWS):
        return None
    if not isinstance(bound, exp.Literal) or not bound.name.isdigit():
        return None
    return window, inner.this, rank_of(inner) or 0, isinstance(inner, exp.EQ)


def rank_of(comparison: exp.Expr) -> int | None:
    """n of `x = n` and `x <= n`, n - 1 of `x < n`; None for anything else."""
    bound = comparison.expression
    if not isinstance(comparison, exp.EQ | exp.LTE | exp.LT) or not isinstance(bound, exp.Literal):
        return None
    if bound.is_string or not bound.name.isdigit():
        return None
    return int(bound.name) - isinstance(comparison, exp.LT)


def partition_of(window: exp.Window) -> list[exp.Expr]:
    """What a window is partitioned by."""
    return list(window.args.get("partition_by") or ())


def _shielded(found: exp.Expr, item: exp.Expr) -> bool:
    node: exp.Expr | None = found
    while node is not None:
        parent = node.parent
        if isinstance(node, exp.Query) or (isinstance(parent, exp.Window) and parent.this is node):
            return True
        if node is item:
            return False
        node = parent
    return False
