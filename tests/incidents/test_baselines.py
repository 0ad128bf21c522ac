"""The arithmetic of a band: median ± max(5·MAD, 2 % of the median), and nothing from too little."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents.baselines import judge

NUMBERS = st.integers(-(10**12), 10**12).map(Decimal)
HISTORY = st.lists(NUMBERS, min_size=4, max_size=30)


def decimals(*numbers: int | str) -> list[Decimal]:
    return [Decimal(number) for number in numbers]


@pytest.mark.parametrize(
    ("history", "low", "high"),
    [
        ((1000, 1000, 1000, 1000), "980", "1020"),  # constant: the share alone
        ((0, 0, 0, 0), "0", "0"),  # an always empty table
        ((100, 110, 90, 100), "75", "125"),  # median 100, MAD 5
        ((10, 20, 30, 40), "-25", "75"),  # median 25, deviations 15 5 5 15, MAD 10
        ((1, 2, 3, 4, 100), "-2", "8"),  # one outlier does not widen the band
        ((-1000, -1000, -1000, -1000), "-1020", "-980"),
        (("0.5", "0.5", "0.5", "0.5"), "0.49", "0.51"),
    ],
)
def test_the_band_is_the_median_and_the_wider_of_both_tolerances(
    history: tuple[int | str, ...], low: str, high: str
) -> None:
    found = judge(Decimal(low), decimals(*history))
    assert (found.low, found.high, found.verdict) == (Decimal(low), Decimal(high), "held")
    step = Decimal("0.000001")
    assert judge(Decimal(high), decimals(*history)).verdict == "held"
    assert judge(Decimal(low) - step, decimals(*history)).verdict == "breach"
    assert judge(Decimal(high) + step, decimals(*history)).verdict == "breach"


def test_the_arithmetic_is_shown() -> None:
    found = judge(Decimal(4490000), decimals(10950000, 10949000, 10951000, 10950000))
    assert [found.n, found.median, found.mad, found.tolerance] == decimals(4, 10950000, 500, 219000)
    assert [found.low, found.high] == decimals(10731000, 11169000)
    assert found.verdict == "breach"


@pytest.mark.parametrize("n", range(4))
def test_fewer_than_four_builds_are_not_evaluated_and_say_so(n: int) -> None:
    found = judge(Decimal(1), [Decimal(10**6)] * n)
    assert (found.verdict, found.low, found.high, found.n) == ("not_evaluated", None, None, n)
    assert found.reason.startswith(f"{n} earlier build")


@given(NUMBERS, HISTORY)
def test_held_is_exactly_inside_the_band_and_the_order_does_not_matter(number: Decimal, history: list[Decimal]) -> None:
    found = judge(number, history)
    assert found.low is not None
    assert found.high is not None
    assert (found.verdict == "held") == (found.low <= number <= found.high)
    assert judge(number, sorted(history)) == judge(number, sorted(history, reverse=True)) == found


@given(HISTORY)
def test_the_median_itself_always_holds_and_the_band_is_the_formula(history: list[Decimal]) -> None:
    ordered = sorted(Fraction(number) for number in history)
    middle = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    away = sorted(abs(number - middle) for number in ordered)
    mad = (away[(len(away) - 1) // 2] + away[len(away) // 2]) / 2
    found = judge(Decimal(middle.numerator) / middle.denominator, history)
    assert found.verdict == "held"
    assert found.tolerance is not None
    assert Fraction(found.tolerance) == max(5 * mad, abs(middle) / 50)


@given(st.integers(1, 10**9), st.integers(4, 30))
def test_half_of_a_constant_history_is_a_breach(number: int, n: int) -> None:
    assert judge(Decimal(number) / 2, [Decimal(number)] * n).verdict == "breach"
