"""How much work one comparison may do, however its conditions are written.

What tries cases one by one counts its steps here, and stops when those of the whole comparison are used up: one
short text can hold many conditions, each of which is soon tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar, cast

T = TypeVar("T")
Found = TypeVar("Found")

MOST_STEPS = 150_000
"""A step looks at one node of a condition in one case; this many take about half a second (measured)."""


class UsedUp(Exception):
    """The steps of a comparison are used up: what was still to be tried is not known."""


class Steps:
    """The steps of one comparison; `taken` counts those that were taken."""

    def __init__(self) -> None:
        self.taken = 0
        self.kept: dict[int, tuple[object, object]] = {}
        """What was found out about a tree, by the tree's id; the tree is held, so that no other gets its id."""

    def spend(self, amount: int = 1) -> None:
        """Count `amount` steps. Raises UsedUp."""
        if self.taken + amount > MOST_STEPS:
            self.taken = MOST_STEPS
            raise UsedUp
        self.taken += amount


_OPEN: ContextVar[Steps | None] = ContextVar("steps of the comparison", default=None)


@contextmanager
def counted() -> Iterator[Steps]:
    """Count the steps of all that is done inside together; with the outer ones where those are counted already."""
    outer = _OPEN.get()
    if outer is not None:
        yield outer
        return
    steps = Steps()
    token = _OPEN.set(steps)
    try:
        yield steps
    finally:
        _OPEN.reset(token)


def kept(tree: T, find: Callable[[T], Found]) -> Found:
    """`find(tree)`, looked up once in each comparison; the tree stays as it is and `find` is the only one for it."""
    steps = _OPEN.get()
    if steps is None:
        return find(tree)
    if id(tree) not in steps.kept:
        steps.kept[id(tree)] = tree, find(tree)
    return cast(Found, steps.kept[id(tree)][1])


def spend(amount: int = 1) -> None:
    """Count steps where they are counted; elsewhere nothing. Raises UsedUp."""
    steps = _OPEN.get()
    if steps is not None:
        steps.spend(amount)
