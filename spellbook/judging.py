"""What the faces share about recorded values: whether a level lets them be judged, and how a verdict is told."""

from __future__ import annotations

from typing import Any

from approvals.services.autonomy import effective_level
from catalog.models import Asset
from incidents.services.record import Recorded, plain

OBSERVE = 1


def is_judged(asset: Asset) -> bool:
    """Whether the level of the asset's domain lets Spellbook judge its values; at L0 they are kept only (D13)."""
    return asset.domain is None or effective_level(asset.domain, []) >= OBSERVE


def said(recorded: Recorded) -> dict[str, Any]:
    """The answer for one value: verdict, band, incident; numbers as text."""
    band = recorded.baseline
    return {
        "asset": recorded.value.metric.asset.name,
        "metric": recorded.value.metric.name,
        "value": plain(recorded.value.number),
        "created": recorded.created,
        "verdict": band.verdict if band else "not_judged",
        "reason": band.reason if band else "",
        "low": plain(band.low) if band and band.low is not None else None,
        "high": plain(band.high) if band and band.high is not None else None,
        "incident": str(recorded.incident) if recorded.incident else None,
    }
