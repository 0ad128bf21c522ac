"""What one probe of the doctor says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ProbeResult:
    """What one probe saw: `state` is works, does not work or unknown; `todo` says what to do, "" when nothing."""

    name: str
    state: str
    said: str
    todo: str = ""
