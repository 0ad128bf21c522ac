"""The next read of a reader in a plain sentence; `catalog.review.moments` says the same in markdown."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from catalog.review.moments import distance


def when(moment: datetime, zone: str, now: datetime) -> str:
    """`moment` in `zone` and in UTC, and how far away it is: 02:00 America/New_York (06:00 UTC), in 47 min.

    An unknown zone gives UTC alone; the day is said when it is not that of `now`. Times are aware.
    """
    there = _zone(zone)
    said = f"{_clock(moment, there, now)} {zone if there is not UTC else 'UTC'}"
    if there is not UTC and moment.astimezone(there).utcoffset():
        said += f" ({_clock(moment, UTC, now)} UTC)"
    return f"{said}, {distance(moment - now)}"


def _clock(moment: datetime, there: tzinfo, now: datetime) -> str:
    local = moment.astimezone(there)
    same_day = local.date() == now.astimezone(there).date()
    return f"{local:%H:%M}" if same_day else f"{local:%Y-%m-%d %H:%M}"


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name) if name not in ("", "UTC", "Etc/UTC") else UTC
    except (OSError, ValueError, KeyError):
        return UTC
