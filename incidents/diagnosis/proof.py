"""What a proof of one change of code answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from catalog.diff.row_set_types import RowSetChange
from catalog.models import Asset
from incidents.diagnosis.case import Case, Found


@dataclass(frozen=True)
class Change:
    """One difference of two queries, in the model of an asset, with both compiled texts (None where dbt kept none)."""

    asset: Asset
    unique_id: str
    before: str | None
    after: str | None
    row_set: RowSetChange


@dataclass(frozen=True)
class Proof:
    """Whether the measured numbers explain the change of rows, in half a sentence, with evidence and facts."""

    holds: bool
    said: str
    found: tuple[Found, ...]
    facts: dict[str, Any] = field(default_factory=dict)


Prove = Callable[[Case, Change], Proof | None]
"""None when the counts or the shape of the query do not let it be proved either way; may raise NotMeasured."""
