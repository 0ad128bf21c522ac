"""What one probe of the doctor saw."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Found:
    """What one probe saw: `state` is works, does not work or unknown; `todo` says what to do, "" when nothing."""

    name: str
    state: str
    said: str
    todo: str = ""
