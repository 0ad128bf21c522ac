"""Judging a value: its baseline row, written once, with every number behind the verdict."""

from __future__ import annotations

from incidents import history
from incidents.baselines import judge
from incidents.models import Baseline, Value
from incidents.numbers import spoken


def judge_value(value: Value) -> Baseline:
    """Write the baseline of a value from the values before it; call it in the transaction that wrote the value."""
    known = history.before(value)
    found = judge(value.number, [old.number for old in known.used])
    return Baseline.objects.create(
        value=value, verdict=found.verdict, reason=found.reason, n=found.n, median=found.median, mad=found.mad,
        tolerance=found.tolerance, low=found.low, high=found.high,
        used=[old.pk for old in known.used], excluded=known.excluded,
    )  # fmt: skip


def said(baseline: Baseline | None) -> str:
    """A verdict in words, with its band."""
    if baseline is None:
        return "not judged"
    if baseline.verdict == "not_evaluated":
        return f"not evaluated, {baseline.reason}"
    word = "inside" if baseline.verdict == "held" else "outside"
    return f"{word} {spoken(baseline.low)} to {spoken(baseline.high)}"
