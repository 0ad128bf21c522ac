"""From a column in a condition down to the relation that holds it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from catalog.diff.selects import Selects, sources_of


@dataclass(frozen=True)
class Held:
    """Where a column is held: the table in the query's words, the column's name there, and the SELECT that reads it."""

    source: exp.Table
    column: exp.Identifier
    select: exp.Select


def resolve(query: Selects, select: exp.Select, alias: str, column: str) -> Held | None:
    """The relation behind `alias.column` in `select`; None when the alias is missing or is no relation.

    CTEs and derived tables that pass the column on under the same or another name are looked through.
    """
    found = [source for source in sources_of(select) if source.alias_or_name.lower() == alias.lower()]
    if len(found) != 1 or not alias:
        return None
    name = _identifier(select, column)
    seen: set[int] = set()
    source, reader = found[0], select
    while True:
        inner = _query_behind(query, source, reader)
        below = _passed_on(inner, name) if inner is not None and id(inner) not in seen else None
        if inner is None or below is None:
            return Held(source, name, reader) if isinstance(source, exp.Table) else None
        seen.add(id(inner))
        source, name, reader = *below, inner


def visible_ctes(query: Selects, select: exp.Select) -> list[exp.CTE]:
    """The CTEs that `select` may name, in the order of their definition."""
    found: list[exp.CTE] = []
    node: exp.Expr | None = select
    inside: exp.Expr | None = None
    while node is not None:
        with_ = node.args.get("with_")
        if with_ is not None and inside is not with_:
            found = [*with_.expressions, *found]
        elif with_ is not None:
            found = [*_before(with_.expressions, select), *found]
        inside, node = node, node.parent
    return found


def with_ctes(body: exp.Select, ctes: list[exp.CTE]) -> exp.Select:
    """`body` under those of `ctes` that it needs, directly or through another."""
    needed: list[exp.CTE] = []
    wanted = _tables(body)
    for cte in reversed(ctes):
        if cte.alias.lower() in wanted and cte.alias.lower() not in {kept.alias.lower() for kept in needed}:
            needed.insert(0, cte)
            wanted |= _tables(cte)
    if needed:
        body.set("with_", exp.With(expressions=[cte.copy() for cte in needed]))
    return body


def _before(ctes: list[exp.CTE], select: exp.Select) -> list[exp.CTE]:
    """Those of `ctes` that stand before the one in which `select` lies."""
    found = []
    for cte in ctes:
        if any(node is select for node in cte.walk()):
            break
        found.append(cte)
    return found


def _tables(tree: exp.Expr) -> set[str]:
    return {table.name.lower() for table in tree.find_all(exp.Table) if not table.db}


def _query_behind(query: Selects, source: exp.Expr, reader: exp.Select) -> exp.Select | None:
    """The SELECT that `source` stands for, if it is a derived table or names a CTE that is one SELECT."""
    if isinstance(source, exp.Subquery):
        return source.this if isinstance(source.this, exp.Select) else None
    if not isinstance(source, exp.Table) or source.db:
        return None
    matches = [cte for cte in visible_ctes(query, reader) if cte.alias.lower() == source.name.lower()]
    behind = matches[-1].this if matches else None
    return behind if isinstance(behind, exp.Select) else None


def _passed_on(select: exp.Select, name: exp.Identifier) -> tuple[exp.Expr, exp.Identifier] | None:
    """The source and the name of the column that `select` gives out as `name`, when it only passes it on."""
    if select.args.get("group") or select.args.get("distinct"):
        return None
    sources = sources_of(select)
    for item in select.expressions:
        column = item.unalias()
        if item.alias_or_name.lower() == name.name.lower() and isinstance(column, exp.Column) and not column.is_star:
            return _source_named(sources, column.table, column.this)
    if any(item.alias_or_name.lower() == name.name.lower() for item in select.expressions):
        return None
    stars = [item for item in select.expressions if item.is_star and not _rewrites(item)]
    if len(stars) != 1:
        return None
    return _source_named(sources, stars[0].table if isinstance(stars[0], exp.Column) else "", name)


def _source_named(sources: list[exp.Expr], alias: str, name: exp.Identifier) -> tuple[exp.Expr, exp.Identifier] | None:
    matches = [source for source in sources if source.alias_or_name.lower() == alias.lower()] if alias else sources
    return (matches[0], name) if len(matches) == 1 else None


def _rewrites(star: exp.Expr) -> bool:
    inner = star.this if isinstance(star, exp.Column) else star
    return any(inner.args.get(name) for name in ("replace", "rename"))


def _identifier(select: exp.Select, column: str) -> exp.Identifier:
    """`column` with the quotes it has in `select`."""
    for found in select.find_all(exp.Column):
        if found.name == column and isinstance(found.this, exp.Identifier):
            return found.this
    return exp.to_identifier(column)
