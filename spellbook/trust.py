"""How far a table can be relied on: a number from 0 to 100 with its parts, their weights, their evidence and how much
of what could be known is known.

    score      = sum(weight x known x score) / sum(weight x known), over the parts, then no more than the lowest cap
    confidence = sum(weight x known) / sum(weight)

`known` is the share of a part's evidence that there is. What nobody measured lowers the confidence and leaves the score
to the parts that are known; a part that is known to be bad lowers the score. The formula is Spellbook's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from catalog.models import Asset
from foundation.clock import now
from spellbook import trust_parts
from spellbook.trust_evidence import gather
from spellbook.trust_parts import Cap, Part

ENOUGH = 50
"""Below this confidence a score is shown with the words that too little is known."""
HIGH, MIDDLE = 80, 50


@dataclass(frozen=True)
class Trust:
    """`score` is None when nothing at all is known; `confidence` is a percentage."""

    score: int | None
    confidence: int
    parts: tuple[Part, ...]
    caps: tuple[Cap, ...]

    @property
    def state(self) -> str:
        """unknown (too little is known), high, middle or low."""
        if self.score is None or self.confidence < ENOUGH:
            return "unknown"
        return "high" if self.score >= HIGH else "middle" if self.score >= MIDDLE else "low"

    @property
    def mean(self) -> int | None:
        """The score that the parts alone give."""
        return weighed(self.parts)

    @property
    def lowered_by(self) -> Cap | None:
        """The cap that holds the score down; None when the parts alone give it."""
        free = self.mean
        lowest = min(self.caps, key=lambda cap: cap.limit, default=None)
        return lowest if lowest is not None and free is not None and free > lowest.limit else None

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON of integers and text."""
        return {
            "score": self.score,
            "confidence": self.confidence,
            "state": self.state,
            "parts": [part.as_dict() for part in self.parts],
            "caps": [{"limit": cap.limit, "reason": cap.reason} for cap in self.caps],
        }


def scores(assets: Sequence[Asset], *, at: datetime | None = None) -> dict[int, Trust]:
    """The trust of each asset by its primary key, judged at `at` (default: now); twelve queries at most.

    No name of an asset stands in the evidence: it can be shown to whoever may see the asset itself.
    """
    moment = at or now()
    found = gather([asset.pk for asset in assets], moment)
    return {pk: rate(trust_parts.parts(evidence, moment), trust_parts.caps(evidence)) for pk, evidence in found.items()}


def rate(parts: Sequence[Part], caps: Sequence[Cap] = ()) -> Trust:
    """The formula of this module on parts and caps."""
    free = weighed(parts)
    score = None if free is None else min([free, *(cap.limit for cap in caps)])
    whole = sum(part.weight for part in parts)
    known = sum(part.weight * part.known for part in parts)
    return Trust(score, round(known / whole) if whole else 0, tuple(parts), tuple(caps))


def weighed(parts: Sequence[Part]) -> int | None:
    """The mean of the parts that are known, by weight and by how far they are; None when none is."""
    known = [(part.weight * part.known, part.score) for part in parts if part.score is not None and part.known]
    total = sum(weight for weight, _ in known)
    return round(sum(weight * score for weight, score in known) / total) if total else None


def formula() -> list[Mapping[str, Any]]:
    """The parts as a page explains them: {label, weight, measures}."""
    return [{"label": one.label, "weight": one.weight, "measures": one.measures} for one in trust_parts.PARTS.values()]
