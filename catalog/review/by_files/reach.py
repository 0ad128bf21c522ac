"""What the assets that a file makes lead to: followed once for each set of assets, however many files make them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from catalog.damage_order import LIVE
from catalog.review.estate.estate import Estate
from catalog.review.estate.names import Found, joined
from catalog.review.estate.reached import Clock, live_places, reached
from catalog.review.estate.ways import Way, best
from catalog.review.people import once, whom_to_ask
from catalog.review.policy import Rules
from catalog.review.types import Knowledge, Person, Policy, Reached
from catalog.sources.manifest_types import Manifest

NEAREST = 10
_FILE = -1
"""The place of the file itself, which stands in no estate."""


@dataclass(frozen=True, slots=True)
class Followed:
    """What some assets lead to, themselves included. `ruled` are their places and those of the readers that they reach,
    for rules; `unknown` are names that nobody knows; `whole` is False where there was too much to follow. `counts` are
    by kind."""

    ruled: frozenset[int] = frozenset()
    unknown: tuple[str, ...] = ()
    whole: bool = True
    counts: Mapping[str, int] = field(default_factory=dict)
    nearest: tuple[str, ...] = ()
    readers: tuple[Reached, ...] = ()
    people: tuple[Person, ...] = ()


class Reach:
    """The graph of `knowledge` alone, without any manifest, and the ways through it from assets by their names."""

    def __init__(self, knowledge: Knowledge, policy: Policy, at: datetime) -> None:
        nothing = Manifest(None, "", "", "", {})
        self.estate = Estate(nothing, nothing, knowledge)
        self._own_notes: list[str] = []
        self._ids = {one.unique_id: one.name for one in knowledge.assets if one.unique_id}
        self._rules = Rules(policy, self._find)
        self._knowledge, self._at, self._clock = knowledge, at, Clock(at)
        self._known: dict[tuple[str, ...], Followed] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be told, in sentences."""
        return tuple(dict.fromkeys([*self.estate.untold.sentences(), *self._rules.notes, *self._own_notes]))

    def rules_of(self, followed: Followed) -> tuple[str, ...]:
        """The team's rules that a change of these assets touches, in sentences: those of the assets themselves, and
        those of readers that it reaches."""
        return tuple(self._rules.touched(followed.ruled))

    def of(self, names: Iterable[str]) -> Followed:
        """What the assets of these names lead to."""
        key = tuple(sorted(set(names)))
        if key not in self._known:
            self._known[key] = self._follow(key)
        return self._known[key]

    def _follow(self, names: tuple[str, ...]) -> Followed:
        starts, unknown = self._starts(names)
        ways, whole = self._ways(starts)
        readers = reached(self.estate, ways, self._clock)
        listed = sorted((way.hops, self.estate.vertices[place].label, place) for place, way in ways.items()
                        if self._counts(place))  # fmt: skip
        asked = (whom_to_ask(self.estate.vertices[place], readers, self._knowledge.domains)
                 for place in starts)  # fmt: skip
        return Followed(
            ruled=frozenset(starts) | live_places(self.estate, ways),
            unknown=unknown,
            whole=whole,
            counts=dict(Counter(self.estate.vertices[place].kind for _, _, place in listed)),
            nearest=tuple(label for _, label, _ in listed[:NEAREST]),
            readers=readers,
            people=once(person for people in asked for person in people),
        )

    def _starts(self, names: Iterable[str]) -> tuple[dict[int, bool], tuple[str, ...]]:
        """The places that the names mean, each with whether it is certain, and the names that nobody knows."""
        starts: dict[int, bool] = {}
        unknown = []
        for name in names:
            places, certain = self._find(name)
            if not places:
                unknown.append(name)
            elif len(places) > 1:
                called = joined(self.estate.vertices[place].label for place in places)
                self._own_notes.append(f"{name} may mean {called}; a change of its files counts as one of all of them")
            for place in places:
                starts[place] = certain or starts.get(place, False)
        return starts, tuple(unknown)

    def _ways(self, starts: Mapping[int, bool]) -> tuple[dict[int, Way], bool]:
        """The best way from the file to each place: the assets are one step away, all else as far from the nearest."""
        ways: list[dict[int, Way]] = []
        whole = True
        for start, certain in starts.items():
            found = self.estate.reach(start)
            whole = whole and found is not None
            more = {place: Way(way.hops + 1, way.before, certain and way.certain)
                    for place, way in (found or {}).items()}  # fmt: skip
            ways.append({start: Way(1, _FILE, certain), **more})
        return best(ways), whole

    def _find(self, name: str) -> Found:
        """The places of a name, which may be dbt's unique id of a table of another repository."""
        return self.estate.names.find(self._ids.get(name, name))

    def _counts(self, place: int) -> bool:
        reader = self.estate.vertices[place].reader
        return reader is None or reader.status in LIVE
