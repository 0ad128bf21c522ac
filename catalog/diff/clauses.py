"""GROUP BY, DISTINCT, ORDER BY and LIMIT that came, went or changed."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catalog.diff.effect import ALL, CAN_COLLAPSE, LOST, Effect, compose
from catalog.diff.found import Found, columns_of, text
from catalog.diff.row_set_types import (
    CAN_MULTIPLY,
    CAN_ONLY_ADD,
    CAN_ONLY_DROP,
    SAME_ROWS,
    UNKNOWN,
    RowSetChange,
)
from catalog.diff.same import key
from catalog.diff.shape import Shape, group_keys, in_full, shape_of
from catalog.diff.stages import Stage

_SETS = ("grouping_sets", "rollup", "cube")
_REGROUPED = {(Shape.ROWS, Shape.GROUPS): CAN_ONLY_DROP, (Shape.GROUPS, Shape.ROWS): CAN_ONLY_ADD}
_CHOOSES = ("limit", "offset", "distinct")


def group_changes(old: exp.Select, new: exp.Select, dialect: str) -> Iterator[Found]:
    """A change of what a row stands for: other keys of GROUP BY, grouping that came or went."""
    shapes = shape_of(old), shape_of(new)
    keys = [{key(node, dialect): node for node in group_keys(select)} for select in (old, new)]
    sets = [_sets(select, dialect) for select in (old, new)]
    if shapes[0] is shapes[1] and keys[0].keys() == keys[1].keys() and sets[0] == sets[1]:
        return
    direction = _REGROUPED.get(shapes, UNKNOWN)
    if shapes == (Shape.GROUPS, Shape.GROUPS):
        direction = _finer(set(keys[0]), set(keys[1]))
    if any(sets) or (new.args.get("having") or new.args.get("qualify")):
        direction = UNKNOWN
    common = keys[0].keys() & keys[1].keys()
    columns = {
        item.alias_or_name.lower() or ALL
        for item in new.expressions
        if item.is_star or key(item.unalias(), dialect) not in common
    }
    differing = [(old, node) for name, node in keys[0].items() if name not in keys[1]]
    differing += [(new, node) for name, node in keys[1].items() if name not in keys[0]]
    hangs_on = dict.fromkeys(column for select, node in differing for column in columns_of([node], select))
    change = RowSetChange(
        kind="group_changed",
        direction=UNKNOWN,
        predicate=text(keys[1].values(), dialect),
        before=text(keys[0].values(), dialect),
        columns=tuple(hangs_on),
        note=f"a row stood for {_stands_for(shapes[0])} and stands for {_stands_for(shapes[1], again=True)}",
    )
    effect = Effect(direction, frozenset(columns)) if direction != UNKNOWN else LOST
    yield Found(change, effect, Stage.DISTINCT)


def distinct_changes(old: exp.Select, new: exp.Select, dialect: str) -> Iterator[Found]:
    """DISTINCT and DISTINCT ON that came, went or compare other columns."""
    before, after = _distinct_keys(old), _distinct_keys(new)
    names = [{key(node, dialect) for node in keys} if keys is not None else None for keys in (before, after)]
    if names[0] == names[1]:
        return
    everything = frozenset({ALL})
    if before is None or after is None:
        kind = "distinct_added" if before is None else "distinct_removed"
        whole = not (after or before)
        effects = {
            ("distinct_added", True): Effect(CAN_COLLAPSE), ("distinct_removed", True): Effect(CAN_MULTIPLY),
            ("distinct_added", False): Effect(CAN_ONLY_DROP), ("distinct_removed", False): Effect(CAN_ONLY_ADD),
        }  # fmt: skip
        effect = effects[kind, whole]
    else:
        kind = "distinct_changed"
        mixed = not before or not after
        effect = Effect(UNKNOWN if mixed else _finer(names[0] or set(), names[1] or set()), everything)
    select, keys = (new, after) if after is not None else (old, before)
    nodes = keys or [item for item in select.expressions if not item.is_star]
    if kind == "distinct_changed":
        nodes = [node for node in [*(before or []), *(after or [])]
                 if (key(node, dialect) in (names[0] or ())) != (key(node, dialect) in (names[1] or ()))]  # fmt: skip
    change = RowSetChange(
        kind=kind,
        direction=UNKNOWN,
        predicate=text(after or [], dialect),
        before=text(before or [], dialect),
        columns=columns_of(nodes, select),
        note=f"equal rows {'were' if kind == 'distinct_removed' else 'are'} taken together",
    )
    yield Found(change, effect, Stage.LIMIT)


def order_and_limit_changes(old: exp.Expr, new: exp.Expr, dialect: str) -> Iterator[Found]:
    """Changes of ORDER BY, LIMIT and OFFSET of two queries or brackets; another order alone leaves the rows."""
    orders = old.args.get("order"), new.args.get("order")
    shown = orders[1] if orders[1] is not None else orders[0]
    select = new if isinstance(new, exp.Select) else exp.Select()
    columns = columns_of([shown] if shown is not None else [], select)
    if key(orders[0], dialect) != key(orders[1], dialect):
        chooses = any(query.args.get(name) for query in (old, new) for name in _CHOOSES)
        change = RowSetChange(
            kind="order_changed",
            direction=UNKNOWN,
            predicate=text([orders[1]] if orders[1] else [], dialect),
            before=text([orders[0]] if orders[0] else [], dialect),
            columns=columns,
            note="the rows come in another order",
        )
        yield Found(change, Effect(SAME_ROWS, frozenset({ALL}) if chooses else frozenset()), Stage.DONE)
    if any(key(old.args.get(name), dialect) != key(new.args.get(name), dialect) for name in ("limit", "offset")):
        yield _limit(old, new, columns, dialect)


def _limit(old: exp.Expr, new: exp.Expr, columns: tuple[tuple[str, str], ...], dialect: str) -> Found:
    limits, offsets = (
        [_bound(query, "limit") for query in (old, new)],
        [_bound(query, "offset") for query in (old, new)],
    )
    known = None not in (*limits, *offsets)
    fewer = [_moved(limits[1], limits[0])] if known else [UNKNOWN]
    moved = offsets[0] != offsets[1]
    fewer += [_moved(offsets[0], offsets[1])] if known and moved else []
    had, has = (query.args.get("limit") for query in (old, new))
    kind = "limit_changed" if (had and has) or not (had or has) else "limit_added" if has else "limit_removed"
    change = RowSetChange(
        kind=kind,
        direction=UNKNOWN,
        predicate=_limit_text(new, dialect),
        before=_limit_text(old, dialect),
        columns=columns,
        note="another number of rows is let through",
    )
    return Found(change, Effect(compose(fewer), frozenset({ALL}) if moved else frozenset()), Stage.DONE)


def _moved(now: float | None, then: float | None) -> str:
    """More rows let through where `now` is more than `then`."""
    if now is None or then is None:
        return UNKNOWN
    return SAME_ROWS if now == then else CAN_ONLY_ADD if now > then else CAN_ONLY_DROP


def _bound(query: exp.Expr, name: str) -> float | None:
    """The number of a LIMIT or OFFSET, what is meant where there is none; None where it cannot be told."""
    node = query.args.get(name)
    if node is None:
        return float("inf") if name == "limit" else 0.0
    count = node.args.get("count") or node.args.get("expression")
    if node.args.get("limit_options") or not isinstance(count, exp.Literal) or not count.name.isdigit():
        return None
    return float(count.name)


def _limit_text(query: exp.Expr, dialect: str) -> str:
    return " ".join(text([query.args[name]], dialect).strip() for name in ("limit", "offset") if query.args.get(name))


def _finer(before: set[str], after: set[str]) -> str:
    if before == after:
        return SAME_ROWS
    return CAN_ONLY_ADD if before < after else CAN_ONLY_DROP if after < before else UNKNOWN


def _sets(select: exp.Select, dialect: str) -> list[str]:
    group = select.args.get("group")
    return [key(node, dialect) for name in _SETS for node in (group.args.get(name) or () if group else ())]


def _distinct_keys(select: exp.Select) -> list[exp.Expr] | None:
    distinct = select.args.get("distinct")
    if distinct is None:
        return None
    on = distinct.args.get("on")
    return [in_full(node, select) for node in on.expressions] if on is not None else []


def _stands_for(shape: Shape, *, again: bool = False) -> str:
    words = {Shape.ROWS: "each row read", Shape.GROUPS: "each group", Shape.ONE: "all rows together"}
    return ("other groups" if again and shape is Shape.GROUPS else words.get(shape)) or "what cannot be told"
