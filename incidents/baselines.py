"""The band that a value must lie in, from the builds before it; pure arithmetic on decimals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import median

MINIMUM_BUILDS = 4
WINDOW = 30
MAD_FACTOR = 5
SHARE = Decimal("0.02")


@dataclass(frozen=True)
class Judgement:
    """A verdict (held, breach, not_evaluated) with every number that led to it, in the metric's own unit."""

    verdict: str
    reason: str
    n: int
    median: Decimal | None = None
    mad: Decimal | None = None
    tolerance: Decimal | None = None
    low: Decimal | None = None
    high: Decimal | None = None


def judge(number: Decimal, history: Sequence[Decimal]) -> Judgement:
    """Judge one value against earlier ones: median ± max(5·MAD, 2 % of the median).

    MAD is the plain median of absolute deviations from the median (no normal-consistency factor); the share keeps
    a constant history from flagging every change. Fewer than four earlier values: not evaluated, never held.

    >>> judge(Decimal(449), [Decimal(1000)] * 5).verdict
    'breach'
    """
    n = len(history)
    if n < MINIMUM_BUILDS:
        return Judgement(
            "not_evaluated", f"{n} earlier {'build' if n == 1 else 'builds'}, {MINIMUM_BUILDS} are needed", n
        )
    centre = Decimal(median(history))
    mad = Decimal(median([abs(value - centre) for value in history]))
    tolerance = max(MAD_FACTOR * mad, SHARE * abs(centre))
    low, high = centre - tolerance, centre + tolerance
    held = low <= number <= high
    return Judgement("held" if held else "breach", "", n, centre, mad, tolerance, low, high)
