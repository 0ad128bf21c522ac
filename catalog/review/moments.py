"""Times as a person reads them in a comment: with zone, and how far away they were when the review was made."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from catalog.review.comment.escape import plain


def moment(when: datetime, zone: str = "UTC", now: datetime | None = None, *, named: bool = True) -> str:
    """`when` in `zone` and in UTC, and its distance from `now`: 02:00 America/New_York (06:00 UTC), in 47 min.

    The day stands before the hour unless it is the day of `now` there. An unknown zone gives UTC. Times are aware.
    `named` False leaves the name of the zone out, where it was just said.
    """
    there = _zone(zone)
    said = _clock(when, there, now)
    if there is UTC or named:
        said += f" {plain(zone, 60) if there is not UTC else 'UTC'}"
    if there is not UTC and when.astimezone(there).utcoffset() != timedelta():
        said += f" ({_clock(when, UTC, now)} UTC)"
    return said if now is None else f"{said}, {distance(when - now)}"


def written(at: datetime) -> str:
    """The minute of a review in full: 2026-09-28 05:13 UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def distance(away: timedelta) -> str:
    """How far away a moment is, in the unit that a person would take: in 47 min, in 5 h 10 min, in 3 days, 4 min ago.

    Minutes are rounded down towards the moment that is asked from.
    """
    minutes = int(abs(away).total_seconds() // 60)
    if minutes == 0:
        return "now"
    if minutes < 120:
        said = f"{minutes} min"
    elif minutes < 48 * 60:
        said = f"{minutes // 60} h" + (f" {minutes % 60} min" if minutes % 60 else "")
    else:
        said = f"{minutes // (24 * 60):,} days"
    return f"in {said}" if away > timedelta() else f"{said} ago"


def _clock(when: datetime, there: tzinfo, now: datetime | None) -> str:
    local = when.astimezone(there)
    if now is not None and local.date() == now.astimezone(there).date():
        return f"{local:%H:%M}"
    return f"{local:%a} {local.day} {local:%b} {local:%H:%M}"


def _zone(name: str) -> tzinfo:
    if name in ("UTC", "Etc/UTC", ""):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
