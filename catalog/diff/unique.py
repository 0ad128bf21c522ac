"""How many rows of a joined query one row can match, where the query itself says so."""

from __future__ import annotations

from sqlglot import exp

from catalog.diff import shape
from catalog.diff.joins import join_keys
from catalog.diff.scopes import Scopes
from catalog.diff.selects import conjuncts, sources_of, where_of
from catalog.diff.shape import Shape, shape_of

MOST_STEPS = 20


def at_most_one(scopes: Scopes, path: str, join: exp.Join) -> bool:
    """Whether a row at `path` can match no two rows of the query that `join` joins: its keys are unique there."""
    behind = _behind(scopes, path, join)
    keys = {name.lower() for name in join_keys(join)}
    return behind is not None and any(unique <= keys for unique in _unique(scopes, behind))


def exactly_one(scopes: Scopes, path: str, join: exp.Join) -> bool:
    """Whether what `join` joins without a condition is one row."""
    behind = _behind(scopes, path, join)
    select = scopes.query.by_path.get(behind) if behind is not None else None
    if select is None or join.args.get("on") is not None or join.args.get("using"):
        return False
    folded = any(select.args.get(name) for name in ("having", "qualify", "limit", "offset"))
    return shape_of(select) is Shape.ONE and not folded and not any(select.find_all(*shape.MULTIPLIES_ROWS))


def _behind(scopes: Scopes, path: str, join: exp.Join) -> str | None:
    select = scopes.query.by_path[path]
    for source, behind in zip(sources_of(select), scopes.sources(path), strict=True):
        if source is join.this and not source.args.get("pivots") and not getattr(source, "alias_column_names", ()):
            return behind
    return None


def _unique(scopes: Scopes, path: str, steps: int = 0) -> list[set[str]]:
    """Sets of columns of the query at `path` of which no two rows have the same values."""
    select = scopes.query.by_path.get(path)
    if select is None or path in scopes.query.unions or steps > MOST_STEPS:
        return []
    if any(item.find(*shape.MULTIPLIES_ROWS, exp.Anonymous) for item in select.expressions):
        return []
    if shape_of(select) is Shape.ONE:
        return [set()]
    found: list[set[str]] = []
    if shape_of(select) is Shape.GROUPS and not _has_sets(select):
        found += _given(select, shape.group_keys(select))
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on") is not None:
        found += _given(select, [shape.in_full(node, select) for node in distinct.args["on"].expressions])
    elif distinct is not None and not any(item.is_star for item in select.expressions):
        found.append({item.alias_or_name.lower() for item in select.expressions})
    for part in _conditions(select, "qualify"):
        ranked = shape.fixed_rank(part)
        if ranked is not None and ranked[2] == 1:
            found += _given(select, shape.partition_of(ranked[0]))
    return found or _inherited(scopes, path, select, steps)


def _inherited(scopes: Scopes, path: str, select: exp.Select, steps: int) -> list[set[str]]:
    """What is unique in the one source, and passed on; and the partition where one row of each is kept."""
    sources, behind = sources_of(select), scopes.sources(path)
    if len(sources) != 1 or behind[0] is None or select.args.get("laterals") or shape_of(select) is not Shape.ROWS:
        return []
    if (
        not isinstance(sources[0], exp.Table | exp.Subquery)
        or sources[0].args.get("pivots")
        or sources[0].alias_column_names
    ):
        return []
    found = _unique(scopes, behind[0], steps + 1)
    inner = scopes.query.by_path.get(behind[0])
    for part in where_of(select):
        if inner is not None and isinstance(part.this, exp.Column) and shape.rank_of(part) == 1:
            for item in inner.expressions:
                window = item.unalias()
                if item.alias_or_name.lower() == part.this.name.lower() and _numbers(window):
                    found += _given(inner, shape.partition_of(window))
    return [
        given
        for names in found
        for given in _given(select, [exp.column(name) for name in sorted(names)])
    ]  # fmt: skip


def _numbers(node: exp.Expr) -> bool:
    return isinstance(node, exp.Window) and isinstance(node.this, exp.RowNumber)


def _given(select: exp.Select, keys: list[exp.Expr]) -> list[set[str]]:
    """The names under which `select` gives out all of `keys`, as one set; none where it does not give out each."""
    names = set()
    star = any(item.is_star for item in select.expressions)
    for node in keys:
        same = [item.alias_or_name.lower() for item in select.expressions if _is(item.unalias(), node)]
        if not same and not (star and isinstance(node, exp.Column)):
            return []
        names.add(same[0] if same else node.name.lower())
    return [names]


def _is(item: exp.Expr, node: exp.Expr) -> bool:
    if isinstance(item, exp.Column) and isinstance(node, exp.Column) and not item.is_star:
        return (item.name.lower() == node.name.lower() and "" in (item.table, node.table)) or item == node
    return item == node


def _conditions(select: exp.Select, clause: str) -> list[exp.Expr]:
    node = select.args.get(clause)
    return conjuncts(shape.with_aliases_in_full(node.this, select)) if node is not None else []


def _has_sets(select: exp.Select) -> bool:
    return any(select.args["group"].args.get(name) for name in ("grouping_sets", "rollup", "cube"))
