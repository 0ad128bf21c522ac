"""What the faces share about values: one is recorded by name, judged if its level lets it, and its verdict told."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from approvals.services.autonomy import effective_level
from catalog.models import Asset
from catalog.selectors import find_asset
from catalog.services.access import pool_of
from foundation.audit import Actor
from foundation.errors import BadInput, NotFound
from incidents.services.record import Recorded, plain, record

OBSERVE = 1


def is_judged(asset: Asset) -> bool:
    """Whether the level of the asset's domain lets Spellbook judge its values; at L0 they are kept only (D13)."""
    return asset.domain is None or effective_level(asset.domain, []) >= OBSERVE


def record_named(
    name: str, metric: str, number: int | str | float | Decimal, *, actor: Actor, at: datetime | None, build: str | None
) -> dict[str, Any]:
    """Record one value of the asset that `name` means, under the level of its domain; returns what `said` says."""
    try:
        asset = find_asset(name)
    except (NotFound, BadInput):  # a refusal lists near names: those alone that the one who records may see
        asset = find_asset(name, among=pool_of(actor))
    return said(record(asset, metric, number, actor=actor, at=at, build_key=build, judged=is_judged(asset)))


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
