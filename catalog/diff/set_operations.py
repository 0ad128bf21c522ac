"""UNION, INTERSECT and EXCEPT: what a change of a branch does to the rows of all, and what other branches do."""

from __future__ import annotations

from catalog.diff.effect import ALL, EXTRA, LOST, NOTHING, Effect, compose, of_distinct, reverse
from catalog.diff.row_set_types import UNKNOWN
from catalog.diff.selects import Selects


def through_operators(query: Selects, path: str, branches: list[Effect]) -> Effect:
    """The effect on a chain of set operations of the effects on its branches."""
    if not any(branches):
        return NOTHING
    by_name = any(node.args.get("by_name") for node in query.nodes.get(path, ()))
    names = None if by_name else _names(query, f"{path}[0]")
    found = _by_position(branches[0], names, names)
    for number, operator in enumerate(query.unions[path], 1):
        right = _by_position(branches[number], _names(query, f"{path}[{number}]"), names)
        found = _combined(operator, found, right)
    return found


def _combined(operator: str, left: Effect, right: Effect) -> Effect:
    if not left and not right:
        return NOTHING
    if operator == "Union all":
        return Effect(compose([left.direction, right.direction]), left.columns | right.columns)
    if left.columns or right.columns or operator.endswith(" all"):
        return LOST
    directions = of_distinct(left.direction), of_distinct(right.direction)
    if operator.startswith("Except"):
        return Effect(compose([directions[0], reverse(directions[1])]))
    return Effect(compose(directions) if operator.startswith(("Union", "Intersect")) else UNKNOWN)


def _names(query: Selects, path: str) -> list[str] | None:
    """The names of the columns of a branch in order; None where they are not told."""
    select = query.by_path.get(path)
    if select is None or any(item.is_star for item in select.expressions):
        return None
    return [item.alias_or_name.lower() for item in select.expressions]


def _by_position(effect: Effect, own: list[str] | None, first: list[str] | None) -> Effect:
    """The effect of a branch with its columns under the names that the first branch gives them."""
    if not effect.columns or (effect.columns == {EXTRA} and own is not None):
        return Effect(effect.direction, effect.columns)
    if own is None or first is None or ALL in effect.columns or len(own) != len(first):
        return Effect(effect.direction, frozenset({ALL}))
    names = {first[place] for place, name in enumerate(own) if name in effect.columns}
    return Effect(effect.direction, frozenset(names) | (effect.columns & {EXTRA}))
