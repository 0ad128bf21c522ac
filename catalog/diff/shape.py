"""What a SELECT writes a row for: each row it reads, each group of them, or all of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from sqlglot import exp

from catalog.diff.steps import kept

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
_MOST_DIGITS = 15
_SHADOWED = "stands for an item of the list or a column"


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
    place = whole_number(node)
    if place is not None:
        return select.expressions[place - 1].unalias() if 0 < place <= len(select.expressions) else node
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
    """A copy of HAVING or QUALIFY in which names of computed items of the select list stand for what they are.

    A name that may mean a column as well stands for both; `as_written` gives it back.
    """
    named = {item.alias.lower(): item.unalias() for item in select.expressions if isinstance(item, exp.Alias)}

    def meant(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or node.table or node.name.lower() not in named:
            return node
        found = named[node.name.lower()]
        if not any(column.name.lower() == node.name.lower() for column in found.find_all(exp.Column)):
            return found.copy()
        if isinstance(found, exp.Column) and not found.table:
            return node
        both = exp.Tuple(expressions=[node.copy(), found.copy()])
        both.meta[_SHADOWED] = True
        return both

    return condition.copy().transform(meant)


def as_written(condition: exp.Expr) -> exp.Expr:
    """A copy of what `with_aliases_in_full` gave, in which a name that stands for two things is that name again."""
    given: exp.Expr = condition.copy().transform(lambda node: node.expressions[0] if node.meta.get(_SHADOWED) else node)
    return given


def with_readers(select: exp.Select, changed: set[str]) -> frozenset[str]:
    """The names of the changed items of the select list, and of those that name them."""
    readers, found, left = kept(select, _readers), set(changed), list(changed)
    while left:
        new = readers.get(left.pop(), frozenset()) - found
        found |= new
        left += new
    return frozenset(found)


def _readers(select: exp.Select) -> dict[str, frozenset[str]]:
    """For each name that computed items of the list read, the names of these items."""
    found: dict[str, set[str]] = {}
    for item in select.expressions:
        if not isinstance(item.unalias(), exp.Column):
            for column in item.find_all(exp.Column):
                if not column.table:
                    found.setdefault(column.name.lower(), set()).add(item.alias_or_name.lower() or "*")
    return {name: frozenset(items) for name, items in found.items()}


def fixed_rank(condition: exp.Expr) -> tuple[exp.Window, exp.Expr, int, bool] | None:
    """(window, its side, n, whether just one rank) of `row_number() over (...) = n`, `<= n`, `< n`; else None."""
    inner = condition.unnest()
    if not isinstance(inner, exp.EQ | exp.LTE | exp.LT):
        return None
    window, rank = inner.this.unnest(), rank_of(inner)
    if not isinstance(window, exp.Window) or not isinstance(window.this, _NUMBERS_ROWS) or rank is None:
        return None
    return window, inner.this, rank, isinstance(inner, exp.EQ)


def rank_of(comparison: exp.Expr) -> int | None:
    """n of `x = n` and `x <= n`, n - 1 of `x < n`; None for anything else."""
    if not isinstance(comparison, exp.EQ | exp.LTE | exp.LT):
        return None
    bound = whole_number(comparison.expression.unnest())
    return bound - isinstance(comparison, exp.LT) if bound is not None else None


def whole_number(node: exp.Expr | None) -> int | None:
    """The whole number that `node` writes in digits; None for anything else, and for more digits than can matter."""
    if not isinstance(node, exp.Literal) or node.is_string or len(node.name) > _MOST_DIGITS:
        return None
    return int(node.name) if node.name.isascii() and node.name.isdigit() else None


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
