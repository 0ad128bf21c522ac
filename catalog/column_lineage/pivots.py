"""PIVOT and UNPIVOT: which column comes of which is not told apart, and that is said."""

from __future__ import annotations

from sqlglot import exp

from catalog.column_lineage.expressions import value_of
from catalog.column_lineage.frames import Frame
from catalog.column_lineage.relations import Relation, Rest, merged
from catalog.column_lineage.values import AGGREGATED, TRANSFORMED, joined

CONFIDENCE = 60
WHY = "the columns that a PIVOT makes are told together"


def pivoted(pivot: exp.Expr, relation: Relation, frame: Frame) -> Relation:
    """`relation` after `pivot`: columns that it does not touch stay, every new one is made of all that it looks at."""
    inside = Frame(frame.context, frame.env, None, {"": relation})
    mentioned = [node for name in ("expressions", "fields", "using", "group") for node in _list(pivot.args.get(name))]
    columns = [column for node in mentioned for column in node.find_all(exp.Column)]
    names = {column.name.casefold() for column in columns}
    made = joined([value_of(column, inside) for column in columns])
    made = made.at_least(TRANSFORMED if pivot.args.get("unpivot") else AGGREGATED).doubted(CONFIDENCE, WHY)
    kept = [(name, value) for name, value in relation.columns if name.casefold() not in names]
    new = [(name, made) for name in _names(pivot)]
    rest = merged([relation.rest, None if new else Rest(value=made)], frozenset(names))
    return Relation((*kept, *new), rest, relation.rows | made.sources)


def _names(pivot: exp.Expr) -> list[str]:
    """The new columns, as far as the text says them."""
    given = [one.name for one in _list(pivot.args.get("columns"))]
    if not pivot.args.get("unpivot"):
        return given
    fields = [one.this.name for one in _list(pivot.args.get("fields")) if isinstance(one, exp.In)]
    return [one.name for one in _list(pivot.args.get("expressions")) if one.name] + fields


def _list(value: object) -> list[exp.Expr]:
    if value is None:
        return []
    found = value if isinstance(value, list) else [value]
    return [one for one in found if isinstance(one, exp.Expr)]
