"""The one table of what beat wakes. A line wakes a sweep; which rows are due is decided by the database alone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Beat:
    """Wake `task` every `seconds`; a message that nobody took within that time expires."""

    task: str
    seconds: float


BEATS: tuple[Beat, ...] = (
    Beat("wake.incidents", 1),
    Beat("wake.plans", 1),
    Beat("work.builds", 1),
    Beat("work.lineage", 2),
    Beat("work.columns", 2),
    Beat("work.reviews", 3),
    Beat("work.introspect", 15),
    Beat("work.search", 5),
    Beat("wake.requests", 2),
    Beat("wake.holds", 5),
    Beat("wake.receipts", 1),
    Beat("send.outbox", 2),
)


def schedule(beats: tuple[Beat, ...] = BEATS) -> dict[str, dict[str, object]]:
    """Celery's `beat_schedule`: one entry per line, named like its task."""
    return {
        beat.task: {"task": beat.task, "schedule": beat.seconds, "options": {"expires": beat.seconds}} for beat in beats
    }
