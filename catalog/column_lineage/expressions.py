"""From an expression to the columns that its value is made of."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catalog.column_lineage.frames import Frame
from catalog.column_lineage.values import AGGREGATED, CONSTANT, IDENTITY, TRANSFORMED, Source, Value, joined

_NEIGHBOURS = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)
"""Aggregates by their class that take the value of one other row as it is."""

_MAKE_ROWS = (
    exp.UDTF, exp.Explode, exp.Posexplode, exp.Inline, exp.Stack, exp.Unnest, exp.GenerateSeries,
    exp.ExplodingGenerateSeries,
)  # fmt: skip
_MAKE_ROWS_BY_NAME = (
    "_elements",
    "_elements_text",
    "_each",
    "_each_text",
    "_keys",
    "_to_table",
    "_tuple",
    "_subscripts",
)


def value_of(node: exp.Expr, frame: Frame) -> Value:
    """What the value of `node` is made of; subqueries inside it count, and what they filter decides rows of `frame`."""
    inner = node.unalias().unnest()
    if isinstance(inner, exp.Column) and not inner.is_star:
        return frame.resolve(inner)
    parts, kind = [], CONSTANT
    for found in _pieces(inner):
        kind = AGGREGATED if _folds(found) else kind
        if isinstance(found, exp.Column) and not found.is_star:
            parts.append(frame.resolve(found))
        elif isinstance(found, exp.Column | exp.Star):
            parts += _starred(found, frame)
        elif isinstance(found, exp.Query):
            parts.append(_of_query(found, frame))
    frame.context.spend(sum(len(part.sources) for part in parts) + 1)
    alone = isinstance(inner, exp.Query) and len(parts) == 1
    return joined(parts).at_least(AGGREGATED if kind == AGGREGATED else IDENTITY if alone else TRANSFORMED)


def sources_in(nodes: Iterator[exp.Expr] | list[exp.Expr], frame: Frame) -> set[Source]:
    """The columns that conditions and orders look at."""
    return {source for node in nodes for source in value_of(node, frame).sources}


def making_rows(item: exp.Expr, frame: Frame) -> set[Source]:
    """What decides how many rows an item of a select list makes of one: the arguments of functions that make rows."""
    makers: list[exp.Expr] = [
        node for node in _pieces(item) if isinstance(node, _MAKE_ROWS) and not isinstance(node, exp.Query)
    ]
    named = [node for node in _pieces(item) if isinstance(node, exp.Anonymous)]
    makers.extend(node for node in named if node.name.lower().endswith(_MAKE_ROWS_BY_NAME))
    return sources_in(makers, frame)


def _pieces(root: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes of an expression; of a query inside it only the query, of a column only the column."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, exp.Query | exp.Column | exp.Star):
            continue
        if isinstance(node, exp.Count) and isinstance(node.this, exp.Star):
            continue
        stack += [child for child in node.iter_expressions() if not isinstance(child, exp.DataType)]


def _folds(node: exp.Expr) -> bool:
    """Whether `node` makes one value of many rows."""
    if isinstance(node, exp.AggFunc):
        return not isinstance(node, _NEIGHBOURS)
    return isinstance(node, exp.RowNumber)


def _starred(star: exp.Expr, frame: Frame) -> list[Value]:
    """A `*` or `t.*` given to a function: all columns of what it names."""
    if isinstance(star, exp.Column) and star.table:
        relation = frame.relation(star.table)
        return [relation.everything()] if relation is not None else []
    return [one.everything() for name, one in frame.relations.items() if name not in frame.hidden]


def _of_query(query: exp.Expr, frame: Frame) -> Value:
    relation = frame.context.evaluate(frame.context, query, frame.env, frame)
    frame.rows |= relation.rows
    frame.context.reasons.update(dict.fromkeys(relation.reasons))
    if isinstance(query.parent, exp.Exists):  # the answer is whether there are rows
        return Value(relation.rows, TRANSFORMED)
    return relation.everything()
