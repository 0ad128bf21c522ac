"""Everything that is known of one table, from every floor; what nobody knows is said so."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from catalog.freshness import freshness_of
from catalog.graph.adjacency import Direction
from catalog.models import Asset
from catalog.selectors import full_name
from foundation.errors import NotFound
from incidents.models import Incident
from spellbook import explain_checks, explain_words, walks
from spellbook.eyes import Unveiled
from spellbook.sight import Sight
from spellbook.trust import scores

UNKNOWN: Final = "not known yet"
LISTED: Final = 50
"""Assets above and below that are listed, readers first; all of them are counted, and `lineage` has the rest."""
WAYS: Final[tuple[Direction, Direction]] = ("up", "down")


def explain(asset: Asset, *, at: datetime, sight: Sight | None = None) -> dict[str, Any]:
    """Definition, columns and where they come from, people, lineage both ways, readers, of a source of dbt how fresh it
    was when dbt looked, checks with their last results, open incidents, notes, documentation, trust; as plain JSON.

    A part of which nothing is known is the text "not known yet", never an empty answer that reads as fine. Names that
    `sight` may not read (default: whoever may read all) are hidden, what is counted is not. Raises nothing of its own.
    """
    eyes = sight or Unveiled()
    above, below = (_walked(asset, way, at, eyes) for way in WAYS)
    return {
        "asset": full_name(asset),
        "asset_id": asset.pk,
        "kind": asset.kind,
        "domain": asset.domain.name if asset.domain else UNKNOWN,
        "description": asset.description or UNKNOWN,
        "definition": explain_words.definition(asset) or UNKNOWN,
        "code": explain_words.code(asset) or UNKNOWN,
        "columns": explain_words.columns(asset, eyes) or UNKNOWN,
        "people": {role: names or UNKNOWN for role, names in explain_words.people(asset).items()},
        "upstream": _neighbours(above) if above else UNKNOWN,
        "downstream": _neighbours(below) if below else UNKNOWN,
        "readers": _readers(below) if below else UNKNOWN,
        "next_read": (below and below["next_read"]) or UNKNOWN,
        "freshness": _freshness(asset),
        "checks": explain_checks.checks(asset) or UNKNOWN,
        "metrics": explain_checks.metrics(asset) or UNKNOWN,
        "open_incidents": [str(one) for one in Incident.objects.filter(asset=asset).exclude(state="closed")],
        "notes": explain_words.notes(asset),
        "documentation": explain_words.documentation(asset),
        "trust": scores([asset], at=at)[asset.pk].as_dict(),
    }


def _walked(asset: Asset, way: Direction, at: datetime, eyes: Sight) -> dict[str, Any] | None:
    """None for an asset that no source ever claimed: what it feeds is not known, which is never nothing (D7)."""
    try:
        return walks.walk(asset, way, at=at, sight=eyes, limit=LISTED)
    except NotFound:
        return None


def _freshness(asset: Asset) -> dict[str, Any] | str:
    found = freshness_of(asset)
    return found.as_dict() if found else UNKNOWN


def _neighbours(walked: dict[str, Any]) -> dict[str, Any]:
    return {name: walked[name] for name in ("total", "truncated", "cycle", "kinds", "rows")}


def _readers(below: dict[str, Any]) -> dict[str, Any]:
    """The readers of a page, on which they stand first."""
    rows = [row for row in below["rows"] if row["reader"]]
    return {"total": below["readers"], "truncated": len(rows) < below["readers"], "rows": rows}
