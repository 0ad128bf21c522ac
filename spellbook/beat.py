"""The one table of what beat wakes. A line wakes a sweep; which rows are due is decided by the database alone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Beat:
    """Wake `task` every `seconds`; a message that nobody took within that time expires."""

    task: str
    seconds: float


BEATS: tuple[Beat, ...] = (
    Beat("spellbook.tasks.wake_incidents", 1),
    Beat("spellbook.tasks.wake_plans", 1),
    Beat("spellbook.tasks.process_builds", 1),
    Beat("spellbook.tasks.escalate_requests", 2),
    Beat("spellbook.tasks.mark_late_holds", 5),
    Beat("spellbook.tasks.seal_receipts", 1),
    Beat("spellbook.tasks.deliver_messages", 2),
)


def schedule(beats: tuple[Beat, ...] = BEATS) -> dict[str, dict[str, object]]:
    """Celery's `beat_schedule`: one entry per line, named like its task."""
    return {
        beat.task: {"task": beat.task, "schedule": beat.seconds, "options": {"expires": beat.seconds}} for beat in beats
    }
