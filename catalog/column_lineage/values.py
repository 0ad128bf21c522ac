"""What a column is made of, as a value that is built up from the tables to the last SELECT."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

CONSTANT, IDENTITY, TRANSFORMED, AGGREGATED = "constant", "identity", "transformed", "aggregated"
_ORDER = (CONSTANT, IDENTITY, TRANSFORMED, AGGREGATED)
MOST_SOURCES = 300
"""A column made of more than this is told by its tables alone."""
TOO_MANY = 50

Table: TypeAlias = tuple[str, ...]
"""The parts of a table's name as they stand in the SQL (database, schema, name, as far as given), folded."""


class Source(NamedTuple):
    """A column of a table; `column` is None where only the table is known."""

    table: Table
    column: str | None


Sources: TypeAlias = frozenset[Source]
NO_SOURCES: Sources = frozenset()


@dataclass(frozen=True, slots=True)
class Value:
    """The columns whose values a column holds, how they became it, and how sure that is (0 to 100)."""

    sources: Sources = NO_SOURCES
    kind: str = CONSTANT
    confidence: int = 100
    reasons: frozenset[str] = frozenset()

    def doubted(self, confidence: int, reason: str = "") -> Value:
        """The same, no surer than `confidence`, because of `reason`."""
        reasons = self.reasons | {reason} if reason else self.reasons
        return replace(self, confidence=min(self.confidence, confidence), reasons=reasons)

    def at_least(self, kind: str) -> Value:
        """The same after a step of this kind; a constant stays one, whatever is done to it."""
        if kind == IDENTITY or (kind == TRANSFORMED and self.kind == CONSTANT and not self.sources):
            return self
        return replace(self, kind=_stronger(self.kind, kind))


def joined(values: Sequence[Value]) -> Value:
    """What an expression over all of `values` is made of; its kind is the strongest among them."""
    if len(values) == 1:
        return values[0]
    kinds = [value.kind for value in values]
    return _together(values, max(kinds, key=_ORDER.index, default=CONSTANT))


def either(values: Sequence[Value]) -> Value:
    """What a column is made of that holds one of `values` in each row: the branches of a set operation."""
    if len(values) == 1:
        return values[0]
    kinds = {value.kind for value in values}
    kind = kinds.pop() if len(kinds) == 1 else _stronger(TRANSFORMED, max(kinds, key=_ORDER.index))
    return _together(values, kind)


def of_tables(tables: Iterable[Table], confidence: int, reason: str = "") -> Value:
    """Made of columns of these tables, nobody knows which."""
    sources = frozenset(Source(table, None) for table in tables)
    return Value(sources, TRANSFORMED, confidence, frozenset({reason} if reason else ()))


def _together(values: Iterable[Value], kind: str) -> Value:
    sources: set[Source] = set()
    reasons: set[str] = set()
    confidence = 100
    for value in values:
        sources |= value.sources
        reasons |= value.reasons
        confidence = min(confidence, value.confidence)
    if len(sources) > MOST_SOURCES:
        sources = {Source(source.table, None) for source in sources}
        reasons.add(f"a column is made of more than {MOST_SOURCES} others; their tables are named")
        confidence = min(confidence, TOO_MANY)
    return Value(frozenset(sources), kind, confidence, frozenset(reasons))


def _stronger(one: str, other: str) -> str:
    return max(one, other, key=_ORDER.index)
