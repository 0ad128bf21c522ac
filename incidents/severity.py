"""How bad an incident is, and why: from who reads next and what that reader does with a table that is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

SOON = timedelta(hours=24)
LASTING: Mapping[str, str] = {
    "mirror": "it removes there what is missing here",
    "full": "it replaces all that is there",
    "append": "what it sends cannot be taken back",
    "activation": "people are written to by it",
    "unknown": "what it deletes is not known",
}
"""Modes of a sync whose run leaves damage that a repair of the table alone does not undo."""


def severity_of(reach: Mapping[str, Any], moment: datetime) -> tuple[str, str]:
    """(severity, reason) of a reach at a moment: critical, high, medium or low; a time not known counts as soon."""
    consumers = reach["consumers"]
    for consumer in consumers:
        at = datetime.fromisoformat(consumer["next_read"]) if consumer["next_read"] else None
        if consumer["mode"] in LASTING and (at is None or at - moment < SOON):
            when = f"at {at:%H:%M} UTC" if at else "at a time that is not known"
            return (
                "critical",
                f"{consumer['name'][:150]} ({consumer['mode']}) reads {when}: {LASTING[consumer['mode']]}",
            )
    if consumers:
        return "high", f"{len(consumers)} {'reader' if len(consumers) == 1 else 'readers'} downstream"
    if reach["total"]:
        return "medium", f"{reach['total']} assets downstream, no declared reader"
    return "low", "nothing known reads this table"
