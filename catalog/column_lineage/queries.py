"""SELECTs, set operations and CTEs, each evaluated once, from the inside out."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from catalog.column_lineage.expressions import making_rows, sources_in, value_of
from catalog.column_lineage.frames import Context, Env, Frame
from catalog.column_lineage.from_items import take, values
from catalog.column_lineage.joins import join, take_all
from catalog.column_lineage.pivots import pivoted
from catalog.column_lineage.relations import Relation, Rest, merged
from catalog.column_lineage.stars import expand
from catalog.column_lineage.unions import branches, united
from catalog.column_lineage.values import Source, Value

_CONDITIONS = ("where", "having", "qualify", "prewhere", "connect", "start")
PASSES = 10
"""A recursive CTE is evaluated until nothing changes; each pass follows a value through one column more."""
MOST_DIGITS = 9
"""A longer number names no place of a list."""


def evaluate(context: Context, query: exp.Expr, env: Env, outer: Frame | None) -> Relation:
    """The columns of any query, with the CTEs of `env` and the names of `outer` in sight."""
    env = _with_ctes(context, query, env, outer)
    if isinstance(query, exp.Subquery):
        return _subquery(context, query, env, outer)
    if isinstance(query, exp.SetOperation):
        parts, distinct = branches(query)
        return united(query, [evaluate(context, part, env, outer) for part in parts], distinct)
    if isinstance(query, exp.Select):
        return _select(query, Frame(context, env, outer))
    if isinstance(query, exp.Values):
        return values(query, Frame(context, env, outer))
    if isinstance(query, exp.Pivot):
        frame = Frame(context, env, outer)
        take(query.this, frame)
        return pivoted(query, next(iter(frame.relations.values())), frame)
    frame = Frame(context, env, outer)
    take(query, frame)
    return next(iter(frame.relations.values()))


def _subquery(context: Context, query: exp.Subquery, env: Env, outer: Frame | None) -> Relation:
    inner = query.this
    if isinstance(inner, exp.Table):
        inner = exp.select("*").from_(inner.copy())
    return evaluate(context, inner, env, outer)


def _with_ctes(context: Context, query: exp.Expr, env: Env, outer: Frame | None) -> Env:
    with_ = query.args.get("with_")
    if with_ is None:
        return env
    found = dict(env)
    for cte in with_.expressions:
        names = [column.name for column in cte.args["alias"].columns]
        if with_.args.get("recursive") and isinstance(cte.this, exp.SetOperation):
            found[cte.alias] = _recursive(context, cte, names, found, outer)
        else:
            found[cte.alias] = evaluate(context, cte.this, found, outer).renamed(names)
    return found


def _recursive(context: Context, cte: exp.Expr, names: list[str], env: Env, outer: Frame | None) -> Relation:
    """The first branch, then the whole again and again with what was found so far, until that stays the same."""
    parts, _ = branches(cte.this)
    found = evaluate(context, parts[0], env, outer).renamed(names)
    for _ in range(PASSES):
        again = evaluate(context, cte.this, {**env, cte.alias: found}, outer).renamed(names)
        if again == found:
            break
        found = again
    return found


def _select(select: exp.Select, frame: Frame) -> Relation:
    from_ = select.args.get("from_")
    if from_ is not None:
        take_all(from_.this, frame)
    for one in select.args.get("joins") or ():
        join(one, frame)
    for one in select.args.get("laterals") or ():
        take(one, frame)
    columns, rests = _items(select, frame)
    made = Relation(tuple(columns), merged(rests) if len(rests) > 1 else (rests[0] if rests else None))
    return replace(made, rows=frozenset(_rows(select, made, frame)))


def _items(select: exp.Select, frame: Frame) -> tuple[list[tuple[str, Value]], list[Rest]]:
    columns: list[tuple[str, Value]] = []
    rests: list[Rest] = []
    for place, item in enumerate(select.expressions, 1):
        found, rest = _outputs(item, place, frame)
        columns += found
        rests += [rest] if rest is not None else []
        if isinstance(item, exp.Alias):
            frame.aliases.update({name.casefold(): value for name, value in found if name})
    return columns, rests


def _outputs(item: exp.Expr, place: int, frame: Frame) -> tuple[list[tuple[str, Value]], Rest | None]:
    if isinstance(item, exp.Columns):  # DuckDB: all columns whose names fit
        everything = [one.everything() for one in frame.relations.values()]
        return [], merged([Rest(value=value) for value in everything])
    if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and item.is_star):
        return expand(item, frame)
    value = value_of(item, frame)
    frame.rows |= making_rows(item, frame)
    if isinstance(item, exp.Aliases):
        return [(name.name, value) for name in item.expressions], None
    return [(item.alias_or_name or item.output_name or f"column {place}", value)], None


def _rows(select: exp.Select, made: Relation, frame: Frame) -> set[Source]:
    """The columns that decide which rows there are: conditions, groups, distinct rows, the order of a limit."""
    conditions = [found for name in _CONDITIONS if (found := select.args.get(name)) is not None]
    if select.args.get("limit") is not None or select.args.get("offset") is not None:
        conditions += [found for found in [select.args.get("order")] if found is not None]
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on") is not None:
        conditions.append(distinct.args["on"])
    elif distinct is not None:
        frame.rows |= made.everything().sources
    return frame.rows | sources_in(conditions, frame) | _groups(select, made, frame)


def _groups(select: exp.Select, made: Relation, frame: Frame) -> set[Source]:
    group = select.args.get("group")
    if group is None:
        return set()
    if group.args.get("all"):
        return {source for _, value in made.columns if value.kind != "aggregated" for source in value.sources}
    found = sources_in([group], frame)
    for one in group.expressions:
        place = _place(one)
        if 0 < place <= len(made.columns):
            found |= made.columns[place - 1][1].sources
    return found


def _place(node: exp.Expr) -> int:
    """The place that a number of GROUP BY names; 0 for anything else."""
    number = isinstance(node, exp.Literal) and not node.is_string and len(node.name) <= MOST_DIGITS
    return int(node.name) if number and node.name.isascii() and node.name.isdigit() else 0
