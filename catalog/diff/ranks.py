"""The classic way to keep one row of each: row_number() in one SELECT, `where rn = 1` in the next."""

from __future__ import annotations

from sqlglot import exp

from catalog.diff import shape
from catalog.diff.effect import ALL, Effect, compose, of_distinct, weaker
from catalog.diff.row_set_types import SAME_ROWS
from catalog.diff.scopes import Scopes
from catalog.diff.selects import sources_of, where_of

_FOLDS = ("qualify", "distinct", "limit", "offset", "group")


def through_fixed_rank(scopes: Scopes, path: str, place: int, effect: Effect, ranks: dict[str, str]) -> Effect | None:
    """The effect behind `where rn = 1` over a source in which rn is a row_number(); None where that is not so."""
    select = scopes.query.by_path[path]
    behind, sources = scopes.sources(path)[place], sources_of(select)
    source = scopes.query.by_path.get(behind) if behind is not None else None
    if source is None or len(sources) != 1 or select.args.get("laterals") or any(map(source.args.get, _FOLDS)):
        return None
    numbered = {
        item.alias.lower(): item.unalias()
        for item in source.expressions
        if isinstance(item, exp.Alias) and fixed_window(item.unalias())
    }
    conditions = where_of(select)
    fixed = [part for part in conditions if _column(part.this) in numbered and shape.rank_of(part) is not None]
    if len(fixed) != 1:
        return None
    name = _column(fixed[0].this)
    window = numbered[name]
    assert isinstance(window, exp.Window)  # noqa: S101 - fixed_window() tested it
    keys = _passed_on(source, shape.partition_of(window))
    if keys is None or any(
        column.name.lower() not in keys for part in conditions if part is not fixed[0]
        for column in part.find_all(exp.Column)
    ):  # fmt: skip
        return None
    alias = sources[0].alias_or_name.lower()
    if any(f"{alias}.{other}" in effect.columns for other in (ALL, *keys)):
        return None
    first = isinstance(fixed[0], exp.EQ) and shape.rank_of(fixed[0]) == 1
    if isinstance(fixed[0], exp.EQ) and not first and ranks.get(name, SAME_ROWS) != SAME_ROWS:
        return None
    direction = of_distinct(effect.direction) if first else weaker(effect.direction)
    return Effect(compose([direction, ranks.get(name, SAME_ROWS)]), frozenset({f"{alias}.{ALL}"}))


def fixed_window(node: exp.Expr) -> bool:
    """Whether `node` is row_number() over a window."""
    return isinstance(node, exp.Window) and isinstance(node.this, exp.RowNumber)


def _column(node: object) -> str:
    return node.name.lower() if isinstance(node, exp.Column) else ""


def _passed_on(source: exp.Select, keys: list[exp.Expr]) -> set[str] | None:
    """The names under which `source` gives out the columns `keys`; None where it does not give out all."""
    stars = any(item.is_star for item in source.expressions)
    names: set[str] = set()
    for node in keys:
        if not isinstance(node, exp.Column):
            return None
        given = [
            item.alias_or_name.lower()
            for item in source.expressions
            if isinstance(item.unalias(), exp.Column) and item.unalias().name.lower() == node.name.lower()
        ]
        if not given and not stars:
            return None
        names.add(given[0] if given else node.name.lower())
    return names
