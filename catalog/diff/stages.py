"""The order in which a SELECT works."""

from __future__ import annotations

from enum import IntEnum


class Stage(IntEnum):
    """The clause that a change meets first; each clause sees what the earlier ones leave."""

    JOINS = 0
    WHERE = 1
    GROUP = 2
    HAVING = 3
    QUALIFY = 4
    LIST = 5
    DISTINCT = 6
    LIMIT = 7
    DONE = 8
