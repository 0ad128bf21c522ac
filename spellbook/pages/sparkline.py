"""A series of values as a small drawing: the line, the band that the newest was judged against, the breaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from incidents.models import Baseline, Value

WIDTH, HEIGHT, EDGE = 320, 72, 6


@dataclass(frozen=True)
class Point:
    """One value, at (x, y) of the drawing."""

    x: float
    y: float
    breach: bool
    value: Value
    baseline: Baseline | None


@dataclass(frozen=True)
class Sparkline:
    """A drawing of WIDTH x HEIGHT units; `band` is (y, height) of the newest band, None when there is none."""

    points: list[Point]
    band: tuple[float, float] | None
    newest: Value
    baseline: Baseline | None
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def line(self) -> str:
        """The points as an SVG polyline takes them."""
        return " ".join(f"{point.x:g},{point.y:g}" for point in self.points)

    @property
    def latest_first(self) -> list[Point]:
        return self.points[::-1]


def draw(values: Sequence[Value]) -> Sparkline | None:
    """The drawing of a series, oldest first; None when there is nothing to draw."""
    if not values:
        return None
    baselines = [getattr(value, "baseline", None) for value in values]
    banded = next((one for one in reversed(baselines) if one is not None and one.low is not None), None)
    numbers = [value.number for value in values]
    low, high = min(numbers), max(numbers)
    if banded is not None and banded.low is not None and banded.high is not None:
        low, high = min(low, banded.low), max(high, banded.high)
    step = (WIDTH - 2 * EDGE) / max(1, len(values) - 1)
    points = [
        Point(
            round(EDGE + index * step, 1), _y(value.number, low, high),
            baseline is not None and baseline.verdict == "breach", value, baseline,
        )
        for index, (value, baseline) in enumerate(zip(values, baselines, strict=True))
    ]  # fmt: skip
    return Sparkline(points, _band(banded, low, high), values[-1], baselines[-1])


def _band(baseline: Baseline | None, low: Decimal, high: Decimal) -> tuple[float, float] | None:
    if baseline is None or baseline.low is None or baseline.high is None:
        return None
    top, bottom = _y(baseline.high, low, high), _y(baseline.low, low, high)
    return top, max(1.5, round(bottom - top, 1))


def _y(number: Decimal, low: Decimal, high: Decimal) -> float:
    share = float((number - low) / (high - low)) if high > low else 0.5
    return round(HEIGHT - EDGE - share * (HEIGHT - 2 * EDGE), 1)
