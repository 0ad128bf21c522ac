"""Which tables a view reads, as its own code says; what cannot be told for sure is said to be unsure."""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from catalog.warehouses.guard import function_name

LONGEST = 100_000  # characters; the parser needs seconds for more

ROWS_OF_NOTHING = frozenset({"range", "generate_series", "exploding_generate_series", "unnest"})


@dataclass(frozen=True)
class Reads:
    """The (database, schema, name) that a view's code names, "" for parts that it does not say; `unsure` tells why
    there may be more, "" when these are all."""

    tables: tuple[tuple[str, str, str], ...] = ()
    unsure: str = ""


def reads(definition: str, dialect: str) -> Reads:
    """What the code of a view reads: a query, or the whole `create view … as`.

    >>> reads("create view v as with a as (select * from s.t) select * from a join b on true", "duckdb").tables
    (('', 's', 't'), ('', '', 'b'))
    """
    if len(definition) > LONGEST:
        return Reads(unsure=f"its code is longer than {LONGEST} characters")
    try:
        tree = sqlglot.parse_one(definition, read=dialect, error_level=ErrorLevel.RAISE)
        query = tree.expression if isinstance(tree, exp.Create) else tree
        if not isinstance(query, exp.Query):
            return Reads(unsure="its code is no query")
        return _of(query, dialect)
    except (SqlglotError, RecursionError, ValueError):
        return Reads(unsure="its code cannot be read")


def _of(query: exp.Query, dialect: str) -> Reads:
    found: dict[tuple[str, str, str], None] = {}
    seen: set[int] = set()
    unsure = ""
    for scope in traverse_scope(query):
        common = {_folded(name, dialect) for name in _common(scope)}
        for table in scope.tables:
            seen.add(id(table))
            if _makes_rows(table.this):
                continue
            if not isinstance(table.this, exp.Identifier):
                unsure = unsure or "it reads a function that may read tables"
            elif table.db or _folded(table.name, dialect) not in common:
                found[table.catalog, table.db, table.name] = None
    if any(id(table) not in seen for table in query.find_all(exp.Table)):
        unsure = unsure or "a part of its code is written in a way that cannot be told"
    return Reads(tuple(found), unsure)


def _common(scope: Scope) -> set[str]:
    """The names of common table expressions that stand for a table in this scope, a recursive one for itself too."""
    names = set(scope.cte_sources)
    place: exp.Expr | None = scope.expression
    while place is not None:
        if isinstance(place, exp.CTE) and isinstance(place.parent, exp.With) and place.parent.recursive:
            names.add(place.alias)
        place = place.parent
    return names


def _makes_rows(what: object) -> bool:
    """Whether a function stands there that makes rows of its arguments alone."""
    return isinstance(what, exp.Func) and function_name(what).lower() in ROWS_OF_NOTHING


def _folded(name: str, dialect: str) -> str:
    return name if dialect == "postgres" else name.casefold()
