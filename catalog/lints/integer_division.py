"""Division of integers by integers in a dialect that throws the rest away: 1 / 2 is 0."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from catalog.lints.known import type_of
from catalog.lints.query import Query, brought, short
from catalog.lints.types import CERTAIN, INFO, LOOK, POSSIBLE, Facts, Finding, ModelState, Reader

RULE = "integer-division"
INTEGER, OTHER, UNKNOWN = "integer", "other", "unknown"
_SAME_TYPE = (exp.Paren, exp.Neg, exp.Min, exp.Max, exp.Abs, exp.Alias, exp.Nullif, exp.Window)
_INTEGERS = ("int", "integer", "bigint", "smallint", "tinyint", "int2", "int4", "int8", "serial", "bigserial", "int64")


def check(before: ModelState | None, after: ModelState, facts: Facts, readers: tuple[Reader, ...]) -> Iterator[Finding]:
    """Divisions that came or changed, in dialects whose `/` of two integers is an integer.

    Certain where both sides are integers by form or by the types in the facts; possible where a side's type is not
    known and the other is an integer, or where neither is known (for information). No rewrite: whether whole numbers
    are meant is not clear.
    """
    yield from brought(before, after, lambda query: _of_query(query, facts))


def _of_query(query: Query, facts: Facts) -> Iterator[Finding]:
    if not Dialect.get_or_raise(query.dialect or None).TYPED_DIVISION:
        return
    for division in query.selects.tree.find_all(exp.Div):
        kinds = {_kind(query, side, facts) for side in (division.this, division.expression)}
        if OTHER in kinds:
            continue
        certain = kinds == {INTEGER}
        text = query.sql(division)
        sentence = (
            f"({short(text)}) divides integers and drops the rest: 1 / 2 is 0."
            if certain
            else f"({short(text)}) drops the rest if both sides are integers."
        )
        sides = [side for side in (division.this, division.expression) if _kind(query, side, facts) == UNKNOWN]
        evidence = tuple(f"not known of what type {query.sql(side)} is" for side in sides)
        severity = INFO if kinds == {UNKNOWN} else LOOK
        yield Finding(RULE, severity, query.place(division), sentence, evidence, None, CERTAIN if certain else POSSIBLE)


def _kind(query: Query, node: exp.Expr, facts: Facts) -> str:
    if isinstance(node, _SAME_TYPE):
        return _kind(query, node.this, facts)
    if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div):
        return _together([_kind(query, side, facts) for side in (node.this, node.expression)])
    if isinstance(node, exp.Coalesce):
        return _together([_kind(query, one, facts) for one in (node.this, *node.expressions)])
    if isinstance(node, exp.Column):
        named = type_of(query, node, facts)
        return UNKNOWN if not named else INTEGER if named.split("(")[0].split()[0] in _INTEGERS else OTHER
    return _of_form(node)


def _of_form(node: exp.Expr) -> str:
    if isinstance(node, exp.Literal):
        return INTEGER if not node.is_string and node.name.isdigit() else OTHER
    if isinstance(node, exp.Cast):
        return INTEGER if node.to.is_type(*exp.DataType.INTEGER_TYPES) else OTHER
    return INTEGER if isinstance(node, exp.Count | exp.CountIf | exp.Length | exp.RowNumber) else UNKNOWN


def _together(kinds: list[str]) -> str:
    return OTHER if OTHER in kinds else UNKNOWN if UNKNOWN in kinds else INTEGER
