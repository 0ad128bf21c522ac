"""From text to one tree whose names are folded as the dialect compares them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

MAX_CHARACTERS = 300_000
"""Parsing takes about ten seconds for a million characters, whatever they say (measured); this is three of them."""
DEEP = 6000
"""Calls of calls of calls need more frames than Python gives by default."""
_JINJA, _TEXT = re.compile(r"\{\{|\{%"), re.compile(r"'[^']*'")
_deep = RLock()


class Unreadable(Exception):
    """The text is no query that can be traced; `str(error)` says why."""


def read(sql: str, dialect: str) -> exp.Expr:
    """The query in `sql` (of a `create ... as` or an `insert`, its SELECT), names folded. Raises Unreadable."""
    if len(sql) > MAX_CHARACTERS:
        raise Unreadable(f"the code has more than {MAX_CHARACTERS:,} characters")
    if _JINJA.search(sql) and _JINJA.search(_TEXT.sub("''", sql)):  # some dialects would read it as a struct
        raise Unreadable("the code is a template that was not compiled")
    try:
        trees = [tree for tree in sqlglot.parse(sql, dialect=dialect or None) if tree is not None]
    except (SqlglotError, ValueError, TypeError, AttributeError, IndexError, KeyError):
        # A parser that meets what its authors did not think of fails in many ways; none of them is a query.
        raise Unreadable("the code could not be read as one query") from None
    if len(trees) != 1:
        raise Unreadable("the code is not one query" if trees else "the code is empty")
    return normalize_identifiers(_query(trees[0]), dialect=dialect or None)


@contextmanager
def deep_calls() -> Iterator[None]:
    """Room for deeply nested SQL, for one caller at a time: the limit is the process's own. Raises Unreadable."""
    with _deep:
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(max(before, DEEP))
        try:
            yield
        except RecursionError:
            raise Unreadable("the code is nested too deeply") from None
        finally:
            sys.setrecursionlimit(before)


def _query(tree: exp.Expr) -> exp.Expr:
    inner = tree.expression if isinstance(tree, exp.Create | exp.Insert) else tree
    if not isinstance(inner, exp.Query | exp.Values | exp.Pivot):
        raise Unreadable("the code is not a SELECT")
    return inner
