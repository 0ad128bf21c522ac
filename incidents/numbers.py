"""Numbers of metrics: what is taken, and how they are written for people."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from foundation.errors import BadInput

DIGITS = 15
"""Significant digits that both databases keep exactly (SQLite holds such a number as a double)."""
PLACES = 6


def exact(number: object) -> Decimal:
    """The number as it is kept: at most 6 places and 15 digits, the fraction rounded to fit.

    Takes int, float, Decimal and text; BadInput for what is no finite number, and for 16 digits before the point.

    >>> exact("1234567"), exact(0.1 + 0.2)
    (Decimal('1234567.000000'), Decimal('0.300000'))
    """
    if isinstance(number, bool) or not isinstance(number, int | float | str | Decimal):
        raise BadInput(f"The value must be a number, not {str(number)[:60]!r}.")
    try:
        found = Decimal(str(number).strip())
    except (InvalidOperation, ValueError):
        raise BadInput(f"The value must be a number, not {str(number)[:60]!r}.") from None
    if not found.is_finite():
        raise BadInput(f"The value must be a finite number, not {found}.")
    before = max(found.adjusted() + 1, 1) if found else 1
    if before > DIGITS:
        raise BadInput(f"The value is too large: at most {DIGITS} digits before the point are kept.")
    return found.quantize(Decimal(1).scaleb(-min(PLACES, DIGITS - before)))


def plain(number: Decimal | None) -> str:
    """A number for machines: no exponent, no trailing zeros; "unknown" for None.

    >>> plain(Decimal("1234567.500000"))
    '1234567.5'
    """
    return "unknown" if number is None else _bare(format(number, "f"))


def spoken(number: Decimal | None) -> str:
    """A number for people: with thousands separated; "unknown" for None.

    >>> spoken(Decimal("1234567.500000"))
    '1,234,567.5'
    """
    return "unknown" if number is None else _bare(format(number, ",f"))


def _bare(text: str) -> str:
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text
