"""Which columns of which tables a change of some columns reaches: followed through the SQL of what reads them.

What cannot be traced counts as reached, with all its columns: unknown is never safe.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from catalog.lints.types import bare
from catalog.review.columns.dependent import dependent
from catalog.review.columns.traces import Traces
from catalog.review.estate.estate import Estate
from catalog.review.types import Columns
from catalog.sources.artifact import sequence, text
from catalog.sources.manifest_types import Node

MOST_LOOKS = 100_000
"""So many times a table is looked at for one review; beyond, all columns are followed."""
_NOTHING: frozenset[str] = frozenset()


@dataclass(slots=True)
class Affected:
    """What a change of columns reaches, by place: the columns that it changes there (None: all, or the rows), and for
    readers those of them that they read (None: not known). `untold` are the models through which it is not known."""

    tables: dict[int, Columns] = field(default_factory=dict)
    readers: dict[int, Columns] = field(default_factory=dict)
    untold: list[str] = field(default_factory=list)

    @property
    def places(self) -> set[int]:
        """All that is reached."""
        return {*self.tables, *self.readers}


class ColumnReach:
    """Follows changes of columns through one estate."""

    def __init__(self, estate: Estate, traces: Traces) -> None:
        self._estate, self._traces, self._left = estate, traces, MOST_LOOKS

    def follow(self, start: int, columns: frozenset[str]) -> Affected | None:
        """What a change of `columns` of the table at `start` reaches; None where it is too much to be followed, and
        where several columns of the table have the name of one of these."""
        if columns & set(map(str.lower, self._traces.of(start).repeated)):
            return None
        found = Affected(tables={start: columns})
        waiting = deque(self._estate.children[start])
        while waiting:
            place = waiting.popleft()
            self._left -= 1
            if self._left < 0:
                return None
            if self._estate.vertices[place].reader is not None:
                self._reader(place, found, waiting)
                continue
            before = found.tables.get(place, _NOTHING)
            after = self._grown(place, before, found)
            if after != before:
                found.tables[place] = after
                waiting.extend(self._estate.children[place])
        del found.tables[start]
        return found

    def _grown(self, place: int, before: Columns, found: Affected) -> Columns:
        after = None if before is None else self._of(place, found)
        return None if before is None or after is None else before | after

    def _of(self, place: int, found: Affected) -> Columns:
        node = self._estate.vertices[place].node
        changed = {parent: found.tables[parent] for parent in self._estate.parents[place] if parent in found.tables}
        traced = self._traces.of(place) if node is not None and node.resource_type == "model" else None
        named = {self._traces.table(parent): columns for parent, columns in changed.items()}
        if traced is None or node is None or any(table not in traced.tables for table in named):
            found.untold.append(self._estate.vertices[place].label)
            return None
        reached = dependent(traced, {table: columns for table, columns in named.items() if table is not None})
        return None if reached is not None and reached & _key(node) else reached

    def _reader(self, place: int, found: Affected, waiting: deque[int]) -> None:
        reader = self._estate.vertices[place].reader
        above = [found.tables[one] for one in self._estate.parents[place] if one in found.tables]
        read = reader.columns if reader is not None else None
        if any(one in found.readers for one in self._estate.parents[place]) or read is None or None in above:
            hit: Columns = None
        else:
            hit = frozenset(map(bare, read)) & frozenset().union(*(one for one in above if one is not None))
        if hit == _NOTHING or (place in found.readers and found.readers[place] == hit):
            return
        found.readers[place] = hit
        waiting.extend(self._estate.children[place])


def read_of(traces: Traces, place: int, parent: int) -> Columns:
    """The columns of the table at `parent` that the model at `place` names; None where that is not known.

    What it passes on by `*` is not named: it does not miss a column that is gone.
    """
    table = traces.table(parent)
    found = traces.of(place, as_before=False)
    if table is None or table not in found.tables:
        return None
    values = [*found.columns.values(), *found.repeated.values()]
    sources = {source for value in values for source in value.sources} | found.rows
    mine = [source.column for source in sources if source.table == table]
    return None if None in mine else frozenset(column.lower() for column in mine if column is not None)


def _key(node: Node) -> frozenset[str]:
    value: object = node.config.get("unique_key") if node.materialized == "incremental" else None
    written: Mapping[str, object] | list[str] = (
        [value] if isinstance(value, str) else [text(item) for item in sequence(value)]
    )
    return frozenset(bare(one) for one in written)
