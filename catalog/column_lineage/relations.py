"""What stands in FROM, seen from the SELECT that reads it: named columns, and perhaps more that have no name yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from catalog.column_lineage.tables import complete
from catalog.column_lineage.values import IDENTITY, NO_SOURCES, Source, Sources, Table, Value, joined, of_tables

PASSED_ON = 80
"""How sure a column is that came through a `select *` of one table whose columns are not known."""
ONE_OF = 30
"""The same of several tables."""


@dataclass(frozen=True)
class Rest:
    """The columns that could not be listed: all of `tables` but `without`, and (if `value`) what a function makes.

    `without` is in lower case.

    >>> Rest(tables=(("orders",),)).named("id").sources
    frozenset({Source(table=('orders',), column='id')})
    """

    tables: tuple[Table, ...] = ()
    value: Value | None = None
    without: frozenset[str] = frozenset()
    passed: bool = False

    def named(self, name: str) -> Value | None:
        """What a column of this name would be; None when there can be none."""
        if name.casefold() in self.without:
            return None
        if len(self.tables) == 1 and self.value is None:
            found = Value(frozenset({Source(self.tables[0], name)}), IDENTITY)
            return found.doubted(PASSED_ON) if self.passed else found
        return self.all()

    def all(self) -> Value:
        """What any of them may be made of, taken together."""
        parts = [self.value] if self.value else []
        if self.tables:
            why = "" if len(self.tables) == 1 else "several tables are read by `*` and the columns of none are known"
            parts.append(of_tables(self.tables, ONE_OF, why))
        return joined(parts)


@dataclass(frozen=True)
class Relation:
    """Columns in their order (names may repeat), those that could not be listed, and what decides which rows there are.

    `base` is the table itself where the relation is one.
    """

    columns: tuple[tuple[str, Value], ...] = ()
    rest: Rest | None = None
    rows: Sources = NO_SOURCES
    base: Table | None = None
    reasons: frozenset[str] = field(default=frozenset())

    @cached_property
    def by_name(self) -> Mapping[str, Value]:
        found: dict[str, Value] = {}
        for name, value in self.columns:
            found.setdefault(name, value)
        return found

    @cached_property
    def _folded(self) -> Mapping[str, Value]:
        return {name.casefold(): value for name, value in reversed(self.columns)}

    def known(self, name: str) -> Value | None:
        """The listed column of that name; in another case where none is spelled so (catalogues do not keep quotes)."""
        return self.by_name.get(name) or self._folded.get(name.casefold())

    def column(self, name: str) -> Value | None:
        """The column of that name, listed or not; None when there can be none."""
        found = self.known(name)
        return found if found is not None or self.rest is None else self.rest.named(name)

    def everything(self) -> Value:
        """All columns taken together."""
        rest = [self.rest.all()] if self.rest else []
        return joined([*(value for _, value in self.columns), *rest])

    def renamed(self, names: Sequence[str]) -> Relation:
        """The relation under `as x(a, b)`: the first columns get these names."""
        if not names:
            return self
        values = [value for _, value in self.columns]
        if len(values) < len(names) and self.rest is not None:
            spare = self.rest.all()
            values += [spare] * (len(names) - len(values))
        new = list(zip(names, values, strict=False))
        return replace(self, columns=(*new, *self.columns[len(new) :]), base=None)


def of_table(table: Table, columns: Mapping[str, str]) -> Relation:
    """A table of the warehouse; columns that nobody told of may be there unless the list is complete."""
    listed = tuple((name, Value(frozenset({Source(table, name)}), IDENTITY)) for name in columns)
    return Relation(listed, None if complete(columns) else Rest(tables=(table,)), base=table)


def merged(rests: Iterable[Rest | None], without: frozenset[str] = frozenset()) -> Rest | None:
    """The unlisted columns of several relations, as one `select *` passes them on."""
    found = [rest for rest in rests if rest is not None]
    if not found:
        return None
    values = [rest.value for rest in found if rest.value is not None]
    # A name that one of them excludes may still come from another.
    excluded = frozenset.intersection(*(rest.without for rest in found)) | without
    tables = tuple(dict.fromkeys(table for rest in found for table in rest.tables))
    return Rest(tables, joined(values) if values else None, excluded, passed=True)
