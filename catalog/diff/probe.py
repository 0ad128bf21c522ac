"""Queries that measure what a changed filter or join does to the rows, built as trees and rendered per dialect.

Each returns one row, or is None where the shape of the query does not let the question be asked.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlglot import exp

from catalog.diff import selects
from catalog.diff.joins import join_keys
from catalog.diff.resolve import resolve, visible_ctes, with_ctes
from catalog.diff.row_set_types import RowSetChange
from catalog.diff.same import key
from catalog.diff.selects import Selects, where_of

_FOLDS = ("group", "distinct", "limit", "offset", "qualify", "having", "connect", "match", "sample")


class NullCount(NamedTuple):
    """A query for (total, nulls) of one column, the relation it counts in (in the dialect's SQL), the column there."""

    relation: str
    column: str
    query: str


def filter_split(head_compiled_sql: str, change: RowSetChange, dialect: str) -> str | None:
    """A query for (total, kept, removed_false, removed_null): what the added condition does to the rows it sees.

    The rows are those of the SELECT at `change.scope` without the condition; `total = kept + removed_false +
    removed_null`. None for a SELECT that folds rows, for a set operation, and where the condition is not found.
    """
    place = _place(head_compiled_sql, change, dialect)
    if place is None or not change.predicate:
        return None
    query, select = place
    wanted = {
        key(part, dialect) for part in selects.conjuncts(exp.condition(change.predicate, dialect=dialect or None))
    }
    parts = where_of(select)
    added = [part for part in parts if key(part, dialect) in wanted]
    if not added or len({key(part, dialect) for part in added}) < len(wanted):
        return None
    condition = exp.and_(*(part.copy() for part in added))
    rest = [part.copy() for part in parts if key(part, dialect) not in wanted]
    kept, refused = _sum_where(condition), _sum_where(exp.Not(this=exp.paren(condition)))
    bare = _rows_of(select, rest)
    bare.set("expressions", [
        exp.alias_(_count(), "total"),
        exp.alias_(kept, "kept"),
        exp.alias_(refused, "removed_false"),
        exp.alias_(_minus(_minus(_count(), kept), refused), "removed_null"),
    ])  # fmt: skip
    return _render(query, select, bare, dialect)


def null_count(head_sql: str, change: RowSetChange, dialect: str) -> list[NullCount]:
    """For each column that `change` hangs on, a query for (total, nulls) in the relation it comes from.

    CTEs and derived tables that only pass a column on are looked through; where one computes it, the count is taken
    there. A column whose table cannot be told is left out.
    """
    tree = selects.parse(head_sql, dialect)
    query = Selects(tree) if tree is not None else None
    select = query.by_path.get(change.scope) if query is not None else None
    if query is None or select is None:
        return []
    return [
        found
        for alias, column in change.columns
        if (found := _null_count(query, select, alias, column, dialect)) is not None
    ]


def join_multiplicity(head_sql: str, change: RowSetChange, dialect: str) -> str | None:
    """A query for (rows_with, rows_without): the rows of the SELECT with the join of `change` and without it.

    None when another condition refers to the joined relation, or the SELECT folds rows.
    """
    place = _place(head_sql, change, dialect)
    join = _join(place[1], change) if place else None
    if place is None or join is None:
        return None
    query, select = place
    alias = join.this.alias_or_name.lower()
    clauses: list[exp.Expr] = [*where_of(select), *(other for other in select.args["joins"] if other is not join)]
    if any(column.table.lower() == alias for clause in clauses for column in clause.find_all(exp.Column)):
        return None
    with_join = _rows_of(select, [part.copy() for part in where_of(select)])
    without = with_join.copy()
    without.set("joins", [other.copy() for other in select.args["joins"] if other is not join])
    counts = []
    for name, rows in (("rows_with", with_join), ("rows_without", without)):
        rows.set("expressions", [_count()])
        counts.append(exp.alias_(exp.Subquery(this=rows), name))
    return _render(query, select, exp.Select(expressions=counts), dialect)


def key_multiplicity(head_sql: str, change: RowSetChange, dialect: str) -> str | None:
    """A query for (max_rows_per_key, keys_with_several, key_count) of the relation that `change` joins.

    Rows with a NULL in the key match nothing and are left out; conditions on the joined relation alone are applied.
    """
    tree = selects.parse(head_sql, dialect)
    query = Selects(tree) if tree is not None else None
    select = query.by_path.get(change.scope) if query is not None else None
    join = _join(select, change) if select is not None else None
    if query is None or select is None or join is None or not join_keys(join):
        return None
    alias = join.this.alias_or_name
    keys = [
        exp.column(exp.to_identifier(name, quoted=_quoted(join, name)), table=exp.to_identifier(alias))
        for name in join_keys(join)
    ]
    own = [part.copy() for part in selects.conjuncts(join.args.get("on")) if _only(part, alias)]
    present = [exp.not_(exp.Is(this=column.copy(), expression=exp.null())) for column in keys]
    groups = exp.Select(
        expressions=[exp.alias_(_count(), "rows_per_key")],
        from_=exp.From(this=join.this.copy()),
        where=exp.Where(this=exp.and_(*present, *own)),
        group=exp.Group(expressions=[column.copy() for column in keys]),
    )
    many = exp.GT(this=exp.column("rows_per_key"), expression=exp.Literal.number(1))
    outer = exp.Select(
        expressions=[
            exp.alias_(
                exp.Coalesce(this=exp.Max(this=exp.column("rows_per_key")), expressions=[exp.Literal.number(0)]),
                "max_rows_per_key",
            ),
            exp.alias_(_sum_where(many), "keys_with_several"),
            exp.alias_(_count(), "key_count"),
        ],
        from_=exp.From(this=exp.Subquery(this=groups, alias=exp.TableAlias(this=exp.to_identifier("grouped")))),
    )
    return _render(query, select, outer, dialect)


def row_count(relation: str, dialect: str = "") -> str:
    """A query for (row_count) of `relation`, given in the dialect's SQL."""
    table = exp.to_table(relation, dialect=dialect or None)
    return exp.Select(expressions=[exp.alias_(_count(), "row_count")], from_=exp.From(this=table)).sql(
        dialect=dialect or None
    )


def _place(sql: str, change: RowSetChange, dialect: str) -> tuple[Selects, exp.Select] | None:
    """The SELECT of `change`, when one row that it reads and keeps is one row that it writes."""
    tree = selects.parse(sql, dialect)
    if tree is None or "[" in change.scope:
        return None
    query = Selects(tree)
    select = query.by_path.get(change.scope)
    if select is None or query.recursive or any(select.args.get(name) for name in _FOLDS):
        return None
    aggregates = [
        found
        for item in select.expressions
        for found in item.find_all(exp.AggFunc)
        if not found.find_ancestor(exp.Window)
    ]
    return None if aggregates else (query, select)


def _null_count(query: Selects, select: exp.Select, alias: str, column: str, dialect: str) -> NullCount | None:
    found = resolve(query, select, alias, column)
    if found is None:
        return None
    relation = found.source.copy()
    relation.set("alias", None)
    name = exp.column(found.column.copy())
    body = exp.Select(
        expressions=[
            exp.alias_(_count(), "total"),
            exp.alias_(_sum_where(exp.Is(this=name, expression=exp.null())), "nulls"),
        ],
        from_=exp.From(this=relation),
    )
    return NullCount(
        relation.sql(dialect=dialect or None), found.column.name, _render(query, found.select, body, dialect)
    )


def _join(select: exp.Select, change: RowSetChange) -> exp.Join | None:
    matches = [
        join for join in select.args.get("joins") or () if join.this.alias_or_name.lower() == change.alias.lower()
    ]
    return matches[0] if len(matches) == 1 and change.alias else None


def _rows_of(select: exp.Select, where: list[exp.Expr]) -> exp.Select:
    """FROM and joins of `select` under other conditions, with an empty select list."""
    bare = exp.Select(from_=select.args["from_"].copy(), joins=[join.copy() for join in select.args.get("joins") or ()])
    if select.args.get("laterals"):
        bare.set("laterals", [item.copy() for item in select.args["laterals"]])
    if where:
        bare.set("where", exp.Where(this=exp.and_(*where)))
    return bare


def _render(query: Selects, select: exp.Select, body: exp.Select, dialect: str) -> str:
    return with_ctes(body, visible_ctes(query, select)).sql(dialect=dialect or None)


def _only(part: exp.Expr, alias: str) -> bool:
    tables = {column.table.lower() for column in part.find_all(exp.Column)}
    return tables == {alias.lower()} and not part.find(exp.Query)


def _quoted(join: exp.Join, name: str) -> bool:
    found = [item for item in join.find_all(exp.Identifier) if item.name == name]
    return any(item.args.get("quoted") for item in found)


def _minus(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Sub(this=left, expression=right.copy())


def _count() -> exp.Expr:
    return exp.Count(this=exp.Star(), big_int=True)


def _sum_where(condition: exp.Expr) -> exp.Expr:
    """How many rows meet `condition`, in words that every dialect has."""
    case = exp.Case(ifs=[exp.If(this=condition.copy(), true=exp.Literal.number(1))], default=exp.Literal.number(0))
    return exp.Coalesce(this=exp.Sum(this=case), expressions=[exp.Literal.number(0)])
