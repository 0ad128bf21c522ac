"""Let one harmless SELECT through, as a tree, and refuse everything else by name (D9).

The account's own grants are the real guard; this one stops what a SELECT can do that no SELECT should."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from catalog.warehouses import guard_lists as lists
from foundation.errors import BadInput

LONGEST = 100_000  # characters; a longer text costs the parser more than any check is worth


class Refused(BadInput):
    """The query is not one plain SELECT; the message names what was refused."""


def guard(sql: str, *, dialect: str, row_limit: int) -> str:
    """The query rendered again for `dialect`, returning at most `row_limit + 1` rows.

    The extra row tells the caller that there were more. What is returned was parsed a second time, so the
    text that leaves has itself passed. Raises Refused with one sentence."""
    if row_limit < 1:
        raise BadInput("the row limit must be at least 1")
    tree = parse_select(sql, dialect)
    _limit(tree, row_limit + 1)
    rendered = _render(tree, dialect)
    parse_select(rendered, dialect)
    return rendered


def parse_select(sql: str, dialect: str) -> exp.Query:
    """The checked tree of `sql`; Refused when it is anything but one allowed SELECT."""
    if dialect not in lists.FUNCTIONS:
        raise Refused(f"queries for {dialect} cannot be checked, there is no list of allowed functions for it")
    tree = _parse(sql, dialect)
    try:
        for node in tree.walk():
            _check(node, dialect)
    except RecursionError as error:
        raise Refused("the query is nested too deeply") from error
    return tree


def _parse(sql: str, dialect: str) -> exp.Query:
    if len(sql) > LONGEST:
        raise Refused(f"the query is longer than {LONGEST} characters")
    if "\0" in sql:
        raise Refused("the query holds a null character")
    try:
        found = sqlglot.parse(sql, read=dialect, error_level=ErrorLevel.RAISE)
    except RecursionError as error:
        raise Refused("the query is nested too deeply") from error
    except SqlglotError as error:
        raise Refused(f"the query is not valid {dialect} SQL") from error
    statements = [tree for tree in found if tree is not None and not isinstance(tree, exp.Semicolon)]
    if len(statements) != 1:
        raise Refused(f"the query holds {len(statements)} statements instead of one")
    tree = statements[0]
    if not isinstance(tree, exp.Select | exp.SetOperation | exp.Subquery):
        raise Refused(f"only SELECT is allowed, this is {_word(tree)}")
    return tree


def _check(node: exp.Expr, dialect: str) -> None:
    if isinstance(node, exp.Table):
        _check_relation(node, dialect)
    elif isinstance(node, exp.DataType) and node.this in (exp.DataType.Type.USERDEFINED, exp.DataType.Type.UNKNOWN):
        raise Refused("the query casts to a type that is not built in")
    elif isinstance(node, exp.Limit) and not _is_count(node.expression):
        raise Refused("LIMIT must be a whole number")
    elif isinstance(node, exp.Dot):
        raise Refused(f"the expression {_short(node, dialect)} is qualified in a way that cannot be checked")
    if type(node) in lists.NODES:
        return
    if isinstance(node, exp.Func):
        name = function_name(node)
        if name not in lists.FUNCTIONS[dialect]:
            raise Refused(f"the function {name.lower()} is not on the list of functions allowed for {dialect}")
        return
    raise Refused(f"the query uses {_word(node)}, which is not allowed")


def function_name(node: exp.Func) -> str:
    """sqlglot's canonical name of a function, or the written one in capitals when it knows none."""
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return str(node.name).upper()
    return str(node.sql_name()).upper()


def _check_relation(table: exp.Table, dialect: str) -> None:
    if isinstance(table.this, exp.Func):
        name = function_name(table.this).lower()
        raise Refused(f"the function {name} stands where a table must stand, table functions are not allowed")
    if not isinstance(table.this, exp.Identifier):
        raise Refused(f"{_short(table, dialect)} is not the name of a table")
    extra = sorted(arg for arg, value in table.args.items() if value and arg not in lists.TABLE_ARGS)
    if extra:
        raise Refused(f"the table {table.name} is read with {extra[0].replace('_', ' ')}, which is not allowed")
    _check_names([part.name for part in table.parts])


def _check_names(parts: list[str]) -> None:
    path = ".".join(parts)
    # Joined, because DuckDB looks for the file data.csv when the relation "data"."csv" does not exist.
    if path.lower().endswith(lists.FILE_ENDINGS) or any(mark in path for mark in lists.FILE_MARKS):
        raise Refused(f"the table {path} looks like a file or an address, these cannot be read")
    schema = parts[-2].lower() if len(parts) > 1 else ""
    if schema in lists.SYSTEM_SCHEMAS or parts[-1].lower().startswith(lists.SYSTEM_PREFIXES):
        raise Refused(f"the table {path} belongs to the system catalogue, which queries may not read")


def _limit(tree: exp.Query, most: int) -> None:
    asked = tree.args.get("limit")
    if asked is None or int(asked.expression.name) > most:
        tree.set("limit", exp.Limit(expression=exp.Literal.number(most)))


def _is_count(node: exp.Expr | None) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal()


def _render(tree: exp.Query, dialect: str) -> str:
    try:
        return tree.sql(dialect=dialect, comments=False, unsupported_level=ErrorLevel.RAISE)
    except RecursionError as error:
        raise Refused("the query is nested too deeply") from error
    except SqlglotError as error:
        raise Refused(f"the query cannot be written for {dialect}") from error


def _word(node: exp.Expr) -> str:
    return str(node.name or node.this).split()[0].upper() if isinstance(node, exp.Command) else type(node).key.upper()


def _short(node: exp.Expr, dialect: str) -> str:
    return node.sql(dialect=dialect, comments=False)[:80]
