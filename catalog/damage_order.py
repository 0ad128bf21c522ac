"""The order in which readers are harmed: the rules alone, without rows, for pages and for reviews before a merge."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

LIVE = ("standing", "suggested")
"""What stands, and what waits for an answer. A suggested reader counts until a person of the domain refuses it: unknown
is never safe (D7)."""

WORST_FIRST = ("unknown", "activation", "mirror", "append", "full", "one_time", "extract")
"""What is sent to people cannot be called back; a mirror deletes; what is appended stays; the rest is repaired by
reading again. An unknown mode counts as the worst, and so does a consequence that nobody has written down."""

SENDING = ("sync", "campaign", "cohort")


def urgency(next_read: Any, mode: str | None, kind: str, consequence: str, last_useful_minute: Any) -> tuple[Any, ...]:
    """A key that sorts by time to damage, known times first; the times are moments or texts that sort like them."""
    return (next_read is None, next_read or "", harm_of(mode, kind), bool(consequence), last_useful_minute or "")


def harm_of(mode: str | None, kind: str) -> int:
    """The place of a mode among the worst first; of a reader that is no sync the last, unless it sends to people."""
    harm = mode or ("unknown" if kind in SENDING else "")
    return WORST_FIRST.index(harm) if harm in WORST_FIRST else len(WORST_FIRST)


def last_useful_minute(next_read: datetime | None, lead_seconds: int) -> datetime | None:
    """The last moment at which a hold or a repair still comes before the read; None when that is not known."""
    return next_read - timedelta(seconds=lead_seconds) if next_read else None
