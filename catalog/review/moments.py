"""Times in a review, which is read later than it was made: with day and zone, never "in 5 min"."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def moment(when: datetime, zone: str = "UTC", *, named: bool = True) -> str:
    """`when` (aware) in `zone` and in UTC: Tue 29 Sep 01:17 America/New_York (05:17 UTC).

    An unknown zone gives UTC. `named` False leaves the name of the zone out, where it was just said.
    """
    there = _zone(zone)
    local, everywhere = when.astimezone(there), when.astimezone(UTC)
    said = _day(local) + f"{local:%H:%M}"
    if there is UTC or named:
        said += f" {zone if there is not UTC else 'UTC'}"
    if there is not UTC and local.utcoffset() != timedelta():
        other = "" if everywhere.date() == local.date() else _day(everywhere)
        said += f" ({other}{everywhere:%H:%M} UTC)"
    return said


def written(at: datetime) -> str:
    """The minute of a review in full: 2026-09-28 05:13 UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def distance(away: timedelta) -> str:
    """How long a time is, rounded down, in the unit that a person would take: 47 min, 5 h 10 min, 3 days."""
    minutes = int(away.total_seconds() // 60)
    if minutes < 120:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h" + (f" {minutes % 60} min" if minutes % 60 else "")
    return f"{minutes // (24 * 60):,} days"


def _day(when: datetime) -> str:
    return f"{when:%a} {when.day} {when:%b} "


def _zone(name: str) -> tzinfo:
    if name in ("UTC", "Etc/UTC", ""):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
