"""Conditions with many cases: the steps of one comparison are bounded, and what was not tried is not claimed."""

from __future__ import annotations

import pytest

from catalog.diff.row_set import classify, combined
from catalog.diff.steps import MOST_STEPS, UsedUp, counted, spend
from catalog.lints.registry import findings
from catalog.lints.types import ModelState

BASE = "select id from t"


def stalling(count: int) -> str:
    parts = ["(" + " or ".join(f"c{term}" for term in range(9)) + f" or c{part % 9} is null)" for part in range(count)]
    return f"{BASE} where {' and '.join(parts)}"


@pytest.mark.parametrize("count", [5, 14, 20])
def test_a_short_text_with_many_cases_takes_no_more_steps_than_one_comparison_may(count: int) -> None:
    with counted() as steps:
        assert combined(classify(BASE, stalling(count), "duckdb")) == "can_only_drop"
    assert 0 < steps.taken <= MOST_STEPS


def test_the_steps_of_all_that_is_done_inside_are_counted_together() -> None:
    with counted() as steps, counted():
        spend(MOST_STEPS)
        with pytest.raises(UsedUp):
            spend()
    assert steps.taken == MOST_STEPS


def test_lints_say_where_conditions_have_too_many_cases() -> None:
    parts = ["(not (c0 or " + " or ".join(f"c{term} <> {part}" for term in range(8)) + "))" for part in range(20)]
    found = findings(None, ModelState("orders", f"{BASE} where {' and '.join(parts)}", "duckdb"))
    assert any("too many cases to try" in finding.sentence for finding in found)
