"""The column lineage of one query: `trace`, the only door of this package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from catalog.column_lineage.frames import Context, TooMuch
from catalog.column_lineage.queries import evaluate
from catalog.column_lineage.reading import Unreadable, deep_calls, read
from catalog.column_lineage.relations import Relation
from catalog.column_lineage.tables import Schema, Tables
from catalog.column_lineage.values import NO_SOURCES, Sources, Table, Value, joined

KNOWN, PARTLY, UNKNOWN = "known", "partly", "unknown"
SURE = 80
"""A query all of whose columns are at least this sure is known."""


@dataclass(frozen=True)
class Traced:
    """What the columns of a query are made of.

    `columns` in the query's order; `rest` is what a column of any other name is made of, None when there is none;
    `rows` are the columns that decide which rows there are (conditions, joins, groups, limits). `tables` are all
    tables read, each as (database, schema, name) as far as the SQL says it, or as the schema calls it. `state` is
    known, partly (some columns are told by their tables alone) or unknown (nothing was read), `reason` says why.
    `repeated` is what the further columns of a name are made of where several have it; `columns` holds the first.
    """

    state: str
    columns: Mapping[str, Value] = field(default_factory=dict)
    rest: Value | None = None
    passed: Table | None = None
    without: frozenset[str] = frozenset()
    rows: Sources = NO_SOURCES
    tables: tuple[Table, ...] = ()
    reason: str = ""
    repeated: Mapping[str, Value] = field(default_factory=dict)


def trace(sql: str, *, dialect: str, schema: Schema) -> Traced:
    """What each column of the query in `sql` is made of; never raises for what the SQL says.

    `dialect` is sqlglot's name ("" for a generic one). `schema` gives columns and types by table, each named as it may
    stand in the SQL (one to three parts); a table all of whose types are given is taken to have no other column. A CTE
    of an ephemeral model that the schema names is taken for that table.

    >>> found = trace("select a.id, sum(b.x) as x from a join b using (id) group by 1", dialect="", schema={})
    >>> [(name, value.kind, [source.table for source in value.sources]) for name, value in found.columns.items()]
    [('id', 'identity', [('a',)]), ('x', 'aggregated', [('b',)])]
    """
    try:
        with deep_calls():
            tree = read(sql, dialect)
            context = Context(dialect, Tables(schema), evaluate)
            return _traced(evaluate(context, tree, {}, None), context)
    except Unreadable as error:
        return Traced(UNKNOWN, reason=str(error))
    except TooMuch:
        return Traced(UNKNOWN, reason="the code has too many columns to trace each")


def _traced(relation: Relation, context: Context) -> Traced:
    rest = relation.rest
    passed = rest.tables[0] if rest is not None and len(rest.tables) == 1 and rest.value is None else None
    values = list(relation.by_name.values())
    reasons = dict.fromkeys(context.reasons)
    reasons.update(dict.fromkeys(reason for value in values for reason in sorted(value.reasons)))
    if rest is not None:
        reasons["not all columns of what it reads by `*` are known"] = None  # no names: not everybody may read them
    whole = rest is None and all(value.confidence >= SURE for value in values) and not context.reasons
    return Traced(
        state=KNOWN if whole else PARTLY,
        columns=relation.by_name,
        rest=rest.all() if rest is not None else None,
        passed=passed,
        without=rest.without if rest is not None else frozenset(),
        rows=relation.rows,
        tables=tuple(context.tables),
        reason="; ".join(reasons),
        repeated=_repeated(relation),
    )


def _repeated(relation: Relation) -> dict[str, Value]:
    found: dict[str, list[Value]] = {}
    for name, value in relation.columns:
        found.setdefault(name, []).append(value)
    return {name: joined(values[1:]) for name, values in found.items() if values[1:]}
