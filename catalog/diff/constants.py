"""Constants of a condition that can be compared: numbers, days, texts, truth values, and days counted from now."""

from __future__ import annotations

from datetime import date
from typing import TypeAlias

from sqlglot import exp

from catalog.diff.same import key

Constant: TypeAlias = tuple[str, float | str | bool]
"""(scale, value): only constants of one scale can be compared. Scales: number, day, text, flag, null, and one for each
moment and unit that a condition counts from."""

_ADDS = (exp.Add, exp.DateAdd, exp.DatetimeAdd, exp.TimestampAdd, exp.TsOrDsAdd)
_SUBTRACTS = (exp.Sub, exp.DateSub, exp.DatetimeSub, exp.TimestampSub)
_NOW = (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentDatetime)
_DAYS = (exp.DType.DATE, exp.DType.DATETIME, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPNTZ)


class NotComparable(Exception):
    """The condition cannot be tried out."""


def constant_of(node: exp.Expr, dialect: str) -> Constant | None:
    """The constant that `node` is, or None."""
    inner = node.unnest()
    if isinstance(inner, exp.Null):
        return "null", False
    if isinstance(inner, exp.Boolean):
        return "flag", bool(inner.this)
    number = _number(inner)
    if number is not None:
        return "number", number
    if isinstance(inner, exp.Literal):
        return _day(inner.name) or ("text", inner.name)
    if isinstance(inner, exp.Cast) and inner.to.this in _DAYS and isinstance(inner.this, exp.Literal):
        return _day(inner.this.name)
    return _offset(inner, dialect)


def _number(node: exp.Expr) -> float | None:
    sign = -1 if isinstance(node, exp.Neg) else 1
    literal = node.this if isinstance(node, exp.Neg) else node
    if not isinstance(literal, exp.Literal) or literal.is_string:
        return None
    try:
        value = sign * float(literal.name)
    except ValueError:
        return None
    return value if abs(value) < 2**53 else None


def _day(text: str) -> Constant | None:
    if len(text) != 10:
        return None
    try:
        return "day", float(date.fromisoformat(text).toordinal())
    except ValueError:
        return None


def _offset(node: exp.Expr, dialect: str) -> Constant | None:
    """`current_date - interval 7 day` and its like, as 7 back from that moment."""
    if not isinstance(node, (*_ADDS, *_SUBTRACTS)) or not isinstance(node.this, _NOW):
        return None
    amount, unit = node.expression, node.args.get("unit")
    if isinstance(amount, exp.Interval):
        amount, unit = amount.this, amount.args.get("unit")
    if amount is None or unit is None:
        return None
    number = _number(exp.Literal.number(amount.name) if isinstance(amount, exp.Literal) else amount)
    if number is None:
        return None
    plural = unit.name.lower().removesuffix("s")
    return f"{key(node.this, dialect)} {plural}", number if isinstance(node, _ADDS) else -number
