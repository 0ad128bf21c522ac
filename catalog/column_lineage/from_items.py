"""What stands in FROM: tables, CTEs, derived tables, values, and functions that make rows."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from catalog.column_lineage.expressions import value_of
from catalog.column_lineage.frames import Frame
from catalog.column_lineage.pivots import pivoted
from catalog.column_lineage.relations import Relation, Rest, of_table
from catalog.column_lineage.values import IDENTITY, TRANSFORMED, Source, Value, either

STAND_IN = "__dbt__cte__"
"""dbt's prefix of the CTEs into which it pastes ephemeral models."""
_MAKERS = (
    exp.GenerateSeries,
    exp.ExplodingGenerateSeries,
    exp.Unnest,
    exp.Explode,
    exp.Generator,
    exp.GenerateDateArray,
)
_MAKER_NAMES = frozenset(
    {"range", "generate_series", "generate_range", "unnest", "flatten", "split_to_table", "generator"}
)


def take(item: exp.Expr, frame: Frame) -> list[str]:
    """Put what `item` stands for into `frame`; the aliases under which it stands there."""
    before = set(frame.relations)
    if isinstance(item, exp.Final):
        item = item.this
    frame.add(item.alias_or_name, _pivots(item, _relation(item, frame), frame))
    for lateral in item.args.get("laterals") or ():
        take(lateral, frame)
    return [name for name in frame.relations if name not in before]


def _relation(item: exp.Expr, frame: Frame) -> Relation:
    alias = item.args.get("alias")
    names = [column.name for column in alias.columns] if isinstance(alias, exp.TableAlias) else []
    if isinstance(item, exp.Table):
        return _table(item, frame).renamed(names)
    if isinstance(item, exp.Subquery):
        return frame.context.evaluate(frame.context, item, frame.env, frame.outer).renamed(names)
    if isinstance(item, exp.Values):
        made = values(item, frame).renamed(names)
        return replace(made, rest=None) if names else made
    if isinstance(item, exp.Lateral) and isinstance(item.this, exp.Query):
        return frame.context.evaluate(frame.context, item.this, frame.env, frame).renamed(names)
    return _made(item, names, frame)


def _table(item: exp.Table, frame: Frame) -> Relation:
    if not isinstance(item.this, exp.Identifier):
        return _made(item, [], frame)
    parts = tuple(part.name for part in item.parts)
    if len(parts) == 1 and parts[0] in frame.env:
        return _cte(parts[0], frame)
    if frame.context.dialect == "bigquery" and len(parts) > 1 and frame.relation(parts[0]) is not None:
        array = exp.column(exp.to_identifier(parts[1]), table=exp.to_identifier(parts[0]))
        made = frame.resolve(array).at_least(TRANSFORMED)
        return Relation(rest=Rest(value=made), rows=made.sources)
    table = frame.context.schema.named(parts) or parts
    frame.context.tables[table] = None
    return of_table(table, frame.context.schema.columns(table))


def _cte(name: str, frame: Frame) -> Relation:
    """A CTE; one that stands in for a table of the schema (an ephemeral model) is that table, with its own columns."""
    relation = frame.env[name]
    table = frame.context.schema.named((name,)) if name.casefold().startswith(STAND_IN) else None
    if table is None:
        return relation
    frame.context.tables[table] = None
    columns = tuple((column, Value(frozenset({Source(table, column)}), IDENTITY)) for column, _ in relation.columns)
    return Relation(columns, Rest(tables=(table,)) if relation.rest else None, base=table)


def values(item: exp.Values, frame: Frame) -> Relation:
    """The columns of VALUES by position."""
    rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in item.expressions]
    width = max((len(row) for row in rows), default=0)
    frame.context.spend(width * len(rows))
    cells = [[value_of(row[place], frame) for row in rows if place < len(row)] for place in range(width)]
    return Relation(tuple((f"column{place}", either(cell)) for place, cell in enumerate(cells, 1)), Rest(value=Value()))


def _made(item: exp.Expr, names: list[str], frame: Frame) -> Relation:
    """Rows that a function makes: its arguments decide how many, and all its columns are made of them."""
    made = item.this if isinstance(item, exp.Table | exp.Lateral | exp.TableFromRows) else item
    argument = value_of(made if isinstance(made, exp.Expr) else item, frame).at_least(TRANSFORMED)
    if not _only_arguments(made):
        name = made.sql_name() if isinstance(made, exp.Func) and not isinstance(made, exp.Anonymous) else made.name
        argument = replace(argument, kind=TRANSFORMED).doubted(20, f"rows come from the function {name.lower()[:80]}")
    columns = [(name, argument) for name in names]
    offset = item.args.get("offset")
    if isinstance(offset, exp.Identifier):
        columns.append((offset.name, Value()))
    alias = item.alias_or_name
    if not columns and alias:  # `unnest(list) as x`: x is the column too
        columns = [(alias, argument)]
    reasons = argument.reasons if not _only_arguments(made) else frozenset()
    rest = None if names else Rest(value=argument)
    return Relation(tuple(columns), rest, rows=argument.sources, reasons=reasons)


def _only_arguments(made: exp.Expr) -> bool:
    """Whether the rows hold nothing but what the arguments say."""
    return isinstance(made, _MAKERS) or (isinstance(made, exp.Func) and made.name.lower() in _MAKER_NAMES)


def _pivots(item: exp.Expr, relation: Relation, frame: Frame) -> Relation:
    for pivot in item.args.get("pivots") or ():
        relation = pivoted(pivot, relation, frame)
    return relation
