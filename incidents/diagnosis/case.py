"""What a diagnosis starts from: two builds, their code, the counts at both, and a way to ask the warehouse."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from catalog.models import Asset, Build
from catalog.selectors import ancestors, manifest_of
from catalog.sources.manifest import Manifest
from catalog.sources.naming import dialect_of
from catalog.warehouse_access import open_for, read_connection
from catalog.warehouses.base import TimedOut
from foundation.clock import now
from foundation.errors import SpellbookError, Unavailable
from incidents.baselines import SHARE
from incidents.models import Incident, Value
from incidents.selectors import last_good_build, newest_value

TIMEOUT = timedelta(minutes=2)
PATIENCE = timedelta(minutes=10)
"""How long after its opening an incident waits for a warehouse that is locked or away; then it is told without."""
ROW_COUNT = "row_count"
EXPLAINS = Decimal("0.1")
"""A proof explains a change of rows when no more than a tenth of that change is left over."""


class NotMeasured(Exception):
    """A question to the warehouse has no answer, and waiting would not bring one; the text is a sentence."""


@dataclass(frozen=True)
class Found:
    """One piece of evidence: a sentence, the query or comparison behind it, its result, and which way it speaks."""

    kind: str
    statement: str
    query: str = ""
    result: dict[str, Any] = field(default_factory=dict)
    speaks: str = "neutral"
    weight: int = 0
    measured_at: datetime = field(default_factory=now)


@dataclass(frozen=True)
class Proven:
    """A cause whose proof held: what it is, of which asset, in one sentence, with its facts as text and integers."""

    kind: str
    asset: Asset
    statement: str
    facts: dict[str, Any]
    distance: int


@dataclass(frozen=True)
class Counts:
    """One row of whole numbers by column, and when it was measured."""

    numbers: dict[str, int]
    at: datetime

    def __getitem__(self, name: str) -> int:
        return self.numbers[name]


@dataclass(frozen=True)
class Case:
    """One incident between its last good and its first bad build; `family` is the failing asset and its ancestors."""

    incident: Incident
    good: Build | None
    bad: Build | None
    base: Manifest | None
    head: Manifest | None
    family: tuple[tuple[Asset, int], ...]

    @property
    def dialect(self) -> str:
        """The dialect of the code of the bad build."""
        return dialect_of(self.head.adapter) if self.head is not None else ""

    def value_at(self, asset: Asset, build: Build | None) -> Value | None:
        """The row count kept for an asset at a build, a measured one first; None when nobody counted."""
        return newest_value(asset, ROW_COUNT, build) if build else None

    def rows_at(self, asset: Asset, build: Build | None) -> int | None:
        """`value_at` as a whole number."""
        value = self.value_at(asset, build)
        return int(value.number) if value is not None else None

    def moved(self, asset: Asset) -> int | None:
        """Rows at the bad build minus rows at the good one; None when one was not counted."""
        good, bad = self.rows_at(asset, self.good), self.rows_at(asset, self.bad)
        return bad - good if good is not None and bad is not None else None

    def tolerance(self, asset: Asset, good: int) -> int:
        """How far two counts may lie apart and still be the same: the asset's own band, else 2 % of the good count."""
        rows = self.incident.findings.filter(asset=asset, baseline__value__metric__name=ROW_COUNT)
        finding = rows.select_related("baseline").order_by("at", "pk").first()
        own = finding.baseline.tolerance if finding is not None and finding.baseline is not None else None
        return int(own if own is not None else SHARE * Decimal(good))

    def leftover(self, asset: Asset, good: int, change: int) -> int:
        """The most rows of a change that a proof may leave unexplained: the tolerance, and never over a tenth of it."""
        return min(self.tolerance(asset, good), int(EXPLAINS * abs(change)))

    def ask(self, query: str) -> Counts:
        """Run one guarded, labelled query that counts.

        NotMeasured when there is no answer; Unavailable while one may still come, so that the diagnosis is repeated.
        """
        try:
            rows = open_for(self.incident.asset).select(
                query, label=f"diagnosis-{self.incident}", timeout=TIMEOUT, row_limit=1
            )
        except Unavailable as error:
            if not isinstance(error, TimedOut) and self._may_wait():
                raise
            raise NotMeasured(_bare(error)) from error
        except SpellbookError as error:
            raise NotMeasured(_bare(error)) from error
        cells = rows.rows[0] if rows.rows else ()
        if len(cells) != len(rows.columns) or None in cells:
            raise NotMeasured("the query gave no whole row of numbers")
        return Counts({name: int(cell) for name, cell in zip(rows.columns, cells, strict=True)}, rows.measured_at)

    def _may_wait(self) -> bool:
        return read_connection(self.incident.asset) is not None and now() - self.incident.opened_at < PATIENCE


def case_of(incident: Incident) -> Case:
    """Collect the case of an incident; a build without artifacts leaves its manifest None."""
    bad = incident.first_bad_build
    good = last_good_build(incident.asset, bad) if bad else None
    family = ((incident.asset, 0), *ancestors(incident.asset))
    return Case(
        incident, good, bad, manifest_of(good) if good else None, manifest_of(bad) if bad else None, tuple(family)
    )


def texts(**numbers: int) -> dict[str, str]:
    """Counts as facts keep them: as text, since JSON readers lose long integers."""
    return {name: str(number) for name, number in numbers.items()}


def _bare(error: SpellbookError) -> str:
    return str(error).removeprefix("not evaluated: ").rstrip(".")
