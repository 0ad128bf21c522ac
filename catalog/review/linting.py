"""What the lints find in a changed model, with what is known of the columns that they ask about."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.diff.selects import MAX_CHARACTERS
from catalog.lints.outputs import removed
from catalog.lints.registry import findings
from catalog.lints.types import Finding, Reader
from catalog.review.columns.column_reach import read_of
from catalog.review.columns.origins import Origins
from catalog.review.columns.traces import Traces
from catalog.review.columns.unmatched import with_known_nulls
from catalog.review.estate.estate import Estate
from catalog.review.facts import KnownFacts
from catalog.review.reader_name import shown
from catalog.review.safely import safely, unread
from catalog.review.states import Sides

MOST_LINTED = 1_000_000
"""So many characters of SQL are looked through in one review, which takes some ten seconds; the rest is said."""


class Linting:
    """Looks through the changed models of one review, as much SQL as there is time for."""

    def __init__(self, estate: Estate, traces: Traces, facts: KnownFacts) -> None:
        self._estate, self._traces, self._facts = estate, traces, facts
        self._origins = Origins(estate, traces, facts)
        self._left, self._not_linted = MOST_LINTED, 0

    def found(self, sides: Sides, place: int | None) -> tuple[Finding, ...]:
        """The findings in a model that stands at `place`; none where there was too much SQL, which `notes` tell."""
        texts = [one.sql for one in (sides.before, sides.after) if one is not None]
        self._left -= sum(len(text) for text in texts if len(text) <= MAX_CHARACTERS)  # longer ones are not parsed
        if self._left < 0:
            self._not_linted += 1
            return ()
        readers = tuple(self._readers(place, sides))
        told = safely(lambda: findings(sides.before, sides.after, self._facts, readers), [unread(sides.after)])
        told = safely(lambda: list(with_known_nulls(told, sides.after, self._facts)), told)
        return safely(lambda: tuple(self._origins.with_counts_from_above(told, sides.after)), tuple(told))

    def notes(self) -> Iterator[str]:
        """What was not looked through."""
        if self._not_linted:
            yield f"{self._not_linted:,} changed models were not looked through for lost rows: there is too much SQL"

    def _readers(self, place: int | None, sides: Sides) -> Iterator[Reader]:
        """Who reads the table itself: readers, and models with the columns that they name where one is gone."""
        gone = safely(lambda: bool(removed(sides.before, sides.after)), True)
        for child in self._estate.children[place] if place is not None else ():
            vertex = self._estate.vertices[child]
            if vertex.reader is not None:
                one = vertex.reader
                yield Reader(shown(one), one.kind, one.mode, one.columns)
            elif vertex.node is not None and place is not None:
                columns = read_of(self._traces, child, place) if gone else None
                yield Reader(vertex.label, vertex.kind, "", columns)
