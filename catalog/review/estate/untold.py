"""Names that mean no table or several, and readers of which nobody said what they read: sentences, few of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from catalog.review.estate.names import joined

FEW = 5
"""So many are told one by one; more come in one sentence."""


class Untold:
    """Collects what could not be matched, and tells it."""

    def __init__(self) -> None:
        self._without: list[str] = []
        self._unknown: list[tuple[str, str]] = []
        self._several: list[tuple[str, str, str]] = []

    def reads_nothing(self, reader: str) -> None:
        """A reader of which it is not known what it reads."""
        self._without.append(reader)

    def unknown(self, reader: str, name: str) -> None:
        """`reader` reads `name`, which nobody here is called."""
        self._unknown.append((reader, name))

    def several(self, reader: str, name: str, meant: str) -> None:
        """`reader` reads `name`, which may mean each of `meant`."""
        self._several.append((reader, name, meant))

    def sentences(self) -> Iterator[str]:
        """What to tell of all that."""
        for reader in self._without[:FEW]:
            yield f"it is not known what {reader} reads, so that no change was followed to it"
        yield from _more(self._without, "readers of which it is not known what they read")
        for reader, name in self._unknown[:FEW]:
            yield f"{reader} reads {name}, which no table here is called, so that no change was followed there"
        yield from _more([name for _, name in self._unknown], "names that are read and that no table here is called")
        for reader, name, meant in self._several[:FEW]:
            yield f"{reader} reads {name}, which may mean {meant}; it counts as reading all of it"
        yield from _more([name for _, name, _ in self._several], "names that may mean several tables, or another one")


def _more(things: Sequence[str], what: str) -> Iterator[str]:
    rest = list(dict.fromkeys(things[FEW:]))
    if rest:
        yield f"{len(rest):,} more {what}: {joined(rest)}"
