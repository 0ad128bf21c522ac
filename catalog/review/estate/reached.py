"""The readers that a change reaches, by time to damage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from catalog.damage_order import LIVE, harm_of, last_useful_minute, urgency
from catalog.review.estate.estate import Estate
from catalog.review.estate.ways import Way
from catalog.review.moments import moment
from catalog.review.reader_name import named, shown
from catalog.review.types import Columns, KnownReader, Reached
from foundation.schedule import next_time

WORST_MODES = 3
"""Sends, deletes, or nobody knows: the first of `WORST_FIRST`."""


class Clock:
    """Next reads after the moment of the review, each schedule looked at once."""

    def __init__(self, at: datetime) -> None:
        self._at = at
        self._found: dict[tuple[str, str], datetime | None] = {}

    def next_read(self, reader: KnownReader) -> datetime | None:
        """When the reader reads next; None where its times are not known, or an API starts it."""
        if reader.triggered_by_api or not reader.cron:
            return None
        key = (reader.cron, reader.zone)
        if key not in self._found:
            self._found[key] = next_time(*key, self._at)
        return self._found[key]


def reached(
    estate: Estate, ways: Mapping[int, Way], clock: Clock, columns: Mapping[int, Columns] | None = None
) -> tuple[Reached, ...]:
    """The readers among what is reached over `ways`, by time to damage, then by distance, then by name.

    `columns` are the changed columns that each reads, where they were followed.
    """
    found = [
        _reached(estate, place, ways[place], ways, clock, (columns or {}).get(place))
        for place in ways
        if place in estate.reader_places
    ]
    return tuple(sorted((one for one in found if one.status in LIVE), key=by_damage))


def live_places(estate: Estate, ways: Iterable[int]) -> frozenset[int]:
    """The places of those readers, for rules."""
    readers = ((place, estate.vertices[place].reader) for place in ways)
    return frozenset(place for place, reader in readers if reader is not None and reader.status in LIVE)


def by_damage(one: Reached) -> tuple[Any, ...]:
    """A key that sorts readers by time to damage."""
    return (*urgency(one.next_read, one.mode, one.kind, one.consequence, one.last_useful_minute), one.hops, one.name)


def each_once(lists: Iterable[tuple[Reached, ...]]) -> tuple[Reached, ...]:
    """All readers of several lists, each as the nearest change reaches it, by time to damage."""
    found: dict[tuple[object, ...], Reached] = {}
    for one in (reader for readers in lists for reader in readers):
        key = (one.name, one.kind, one.tool, *((one.mode, one.next_read, one.source) if one.hidden else ()))
        other = found.get(key)
        if other is None or (not one.certain, one.hops) < (not other.certain, other.hops):
            found[key] = one
    return tuple(sorted(found.values(), key=by_damage))


def is_grave(one: Reached) -> bool:
    """Whether what it reads wrongly is deleted there, or sent to people, or nobody knows what is done with it."""
    return harm_of(one.mode, one.kind) < WORST_MODES


def said(one: Reached) -> str:
    """The reader in a sentence: "the Mirror sync Events (next read Tue 29 Sep 02:00 UTC)"."""
    read = f" (next read {moment(one.next_read, one.zone)})" if one.next_read else ""
    if one.triggered_by_api:
        read = " (started by an API, so that its next read is not known)"
    doubt = "" if one.certain else ", if this is the table that it means"
    return f"the {named(one)}{read}{doubt}"


def _reached(estate: Estate, place: int, way: Way, ways: Mapping[int, Way], clock: Clock, columns: Columns) -> Reached:
    reader = estate.vertices[place].reader
    if reader is None:
        raise TypeError("what is not a reader is not reached as one")
    through: list[str] = []
    step = way.before
    while step in ways:
        through.append(estate.vertices[step].label)
        step = ways[step].before
    next_read = clock.next_read(reader)
    return Reached(
        name=shown(reader),
        kind=reader.kind,
        hops=way.hops,
        through=tuple(reversed(through)),
        tool=reader.tool,
        mode=reader.mode,
        delete_rule=reader.delete_rule,
        next_read=next_read,
        last_useful_minute=last_useful_minute(next_read, reader.lead_seconds),
        zone=reader.zone,
        triggered_by_api=reader.triggered_by_api,
        consequence=reader.consequence,
        status=reader.status,
        people=reader.people,
        columns=tuple(sorted(columns)) if columns is not None else None,
        source=reader.source,
        hidden=reader.hidden,
        certain=way.certain,
    )
