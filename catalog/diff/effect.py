"""What a change does to the rows of one SELECT: a direction, and the columns whose values may be others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from catalog.diff.row_set_types import CAN_MULTIPLY, CAN_ONLY_ADD, CAN_ONLY_DROP, SAME_ROWS, UNKNOWN

CAN_COLLAPSE = "can_collapse"
"""The opposite of can_multiply: rows that came several times come fewer times, none goes. Told as can_only_drop."""
EXTRA = "+"
"""Stands among the columns for those that came or went: only what reads `*` sees them."""
ALL = "*"
_WEAKER = {CAN_MULTIPLY: CAN_ONLY_ADD, CAN_COLLAPSE: CAN_ONLY_DROP}
_OPPOSITE = {CAN_ONLY_DROP: CAN_ONLY_ADD, CAN_ONLY_ADD: CAN_ONLY_DROP, CAN_MULTIPLY: CAN_COLLAPSE,
             CAN_COLLAPSE: CAN_MULTIPLY}  # fmt: skip


@dataclass(frozen=True)
class Effect:
    """Old rows against new rows.

    `direction` says which rows can be matched one to one, equal in every column outside of `columns`: can_only_drop,
    that each new row has an old one of its own; can_only_add, the opposite; can_multiply and can_collapse, that
    besides both hold the same distinct rows. `columns` are `name` in what a SELECT writes and `alias.name` inside of
    it, `*` for all. `ranks` tells for a column that holds row_number() what its change does to the number of rows of
    a fixed rank.
    """

    direction: str = SAME_ROWS
    columns: frozenset[str] = frozenset()
    ranks: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return self != NOTHING

    def then(self, other: Effect) -> Effect:
        """This effect, and the other one after it."""
        ranks = dict(self.ranks)
        for name, direction in other.ranks:
            ranks[name] = compose([ranks.get(name, SAME_ROWS), direction])
        return Effect(
            compose([self.direction, other.direction]), self.columns | other.columns, tuple(sorted(ranks.items()))
        )


NOTHING = Effect()
LOST = Effect(UNKNOWN, frozenset({ALL}))


def compose(directions: Iterable[str]) -> str:
    """The direction of several changes one after another; unknown where they do not compose."""
    return reduce(_compose, directions, SAME_ROWS)


def weaker(direction: str) -> str:
    """What is left of `direction` where rows are counted and no more compared."""
    return _WEAKER.get(direction, direction)


def reverse(direction: str) -> str:
    """The direction of the opposite change."""
    return _OPPOSITE.get(direction, direction)


def of_distinct(direction: str) -> str:
    """What a direction becomes where equal rows are one."""
    return SAME_ROWS if direction in (CAN_MULTIPLY, CAN_COLLAPSE) else direction


def told(direction: str) -> str:
    """The direction in the words of `RowSetChange`."""
    return CAN_ONLY_DROP if direction == CAN_COLLAPSE else direction


def _compose(first: str, second: str) -> str:
    if second in (first, SAME_ROWS):
        return first
    if first == SAME_ROWS:
        return second
    return weaker(first) if weaker(first) == weaker(second) else UNKNOWN
