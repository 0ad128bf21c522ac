"""How things are reached from where a change is, and which of two ways to the same thing counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple


class Way(NamedTuple):
    """How something is reached: over how many edges, from which place, and whether no doubtful edge is needed."""

    hops: int
    before: int
    certain: bool


class Ways(Mapping[int, Way]):
    """What a start feeds, without itself, by place in the order in which it was found."""

    def __init__(self, before: dict[int, int], hops: dict[int, int], doubtful: Collection[int]) -> None:
        self._before, self._hops, self._doubtful = before, hops, doubtful
        self._start = next(iter(before))
        del before[self._start]

    def __getitem__(self, place: int) -> Way:
        return Way(self._hops[place], self._before[place], place not in self._doubtful)

    def __iter__(self) -> Iterator[int]:
        return iter(self._before)

    def __len__(self) -> int:
        return len(self._before)

    def __contains__(self, place: object) -> bool:
        return place in self._before


def best(ways: Iterable[Mapping[int, Way]]) -> dict[int, Way]:
    """Of several starts the best way to each place: one that is certain, then the shorter one; the best of all first,
    so that what stands on the way to a place comes before it."""
    found: dict[int, Way] = {}
    for place, way in (one for some in ways for one in some.items()):
        if place not in found or _worth(way) < _worth(found[place]):
            found[place] = way
    return dict(sorted(found.items(), key=lambda one: _worth(one[1])))


def _worth(way: Way) -> tuple[bool, int]:
    return not way.certain, way.hops
