"""The names that a SELECT may use, and what a column means there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from sqlglot import exp

from catalog.column_lineage.relations import Relation
from catalog.column_lineage.tables import Tables
from catalog.column_lineage.values import IDENTITY, TRANSFORMED, Source, Table, Value, either, joined, of_tables

Env: TypeAlias = Mapping[str, Relation]
"""The CTEs that may be named, by name."""

STALE, AMBIGUOUS, NOT_FOUND = 60, 50, 20
BUDGET = 2_000_000
_ALIASES_FIRST_SEEN = frozenset({"snowflake", "redshift", "databricks", "spark", "duckdb", "clickhouse", "teradata"})
"""Dialects in which a select item may use the alias of one before it."""


class TooMuch(Exception):
    """The query has so many columns that tracing it was given up."""


@dataclass
class Context:
    """What holds for the whole query. `tables` collects the tables read, `reasons` what could not be told."""

    dialect: str
    schema: Tables
    evaluate: Callable[[Context, exp.Expr, Env, Frame | None], Relation]
    tables: dict[Table, None] = field(default_factory=dict)
    reasons: dict[str, None] = field(default_factory=dict)
    spent: int = 0

    @property
    def uses_aliases(self) -> bool:
        return self.dialect in _ALIASES_FIRST_SEEN

    def spend(self, amount: int) -> None:
        """Count work; TooMuch ends a query that would take minutes."""
        self.spent += amount
        if self.spent > BUDGET:
            raise TooMuch


@dataclass
class Frame:
    """One SELECT: its relations by alias in their order, those around it, and the aliases that it has given so far.

    `merged` holds the columns of `join ... using` (like `aliases` by names in lower case), `hidden` the aliases of semi
    and anti joins, which `*` leaves out. `rows` collects what decides which rows there are.
    """

    context: Context
    env: Env
    outer: Frame | None = None
    relations: dict[str, Relation] = field(default_factory=dict)
    merged: dict[str, Value] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    aliases: dict[str, Value] = field(default_factory=dict)
    rows: set[Source] = field(default_factory=set)

    def add(self, alias: str, relation: Relation) -> None:
        """Put a relation into FROM; one without a name of its own cannot be named but is read by `*`."""
        self.rows |= relation.rows
        self.context.reasons.update(dict.fromkeys(relation.reasons))
        name = alias if alias and alias not in self.relations else f" {len(self.relations)}"
        self.relations[name] = relation

    def resolve(self, column: exp.Column) -> Value:
        """What `column` is made of. What cannot be told is made of all tables in sight, and says so."""
        path = [part.name for part in column.parts]
        found = self.unqualified(path[0]) if len(path) == 1 else self._qualified(path)
        return found if found is not None else self._not_found(".".join(path))

    def unqualified(self, name: str) -> Value | None:
        """The column that a bare name means here or in a query around this one."""
        for frame in self._outwards():
            found = frame._own(name)
            if found is not None:
                return found
        return self._whole_row(name) or self._stale(name)

    def relation(self, alias: str) -> Relation | None:
        """The relation of that alias, here or around."""
        return next((frame.relations[alias] for frame in self._outwards() if alias in frame.relations), None)

    def _qualified(self, path: list[str]) -> Value | None:
        """`alias.column`, `schema.table.column`, and fields of structs under any of them."""
        for place in range(len(path) - 1):
            relation = self.relation(path[place])
            if relation is None:
                continue
            found = relation.column(path[place + 1]) or _of_stale(relation, path[place + 1])
            if found is None:
                return None
            return found.at_least(TRANSFORMED) if len(path) > place + 2 else found
        found = self.unqualified(path[0])
        return found.at_least(TRANSFORMED) if found is not None else None

    def _own(self, name: str) -> Value | None:
        if name.casefold() in self.merged:
            return self.merged[name.casefold()]
        known = [value for relation in self.relations.values() if (value := relation.known(name)) is not None]
        if known:
            return known[0] if len(known) == 1 else either(known).doubted(AMBIGUOUS, f"the column {name} is ambiguous")
        alias = self.aliases.get(name.casefold())
        possible = [value for relation in self.relations.values() if (value := relation.column(name)) is not None]
        if alias is not None and possible and self.context.uses_aliases:
            return either([alias, *possible]).doubted(AMBIGUOUS, f"{name} may be an alias or a column")
        if len(possible) > 1:
            why = f"the column {name} may be of several tables whose columns are not known"
            return either(possible).doubted(AMBIGUOUS, why)
        return possible[0] if possible else alias

    def _whole_row(self, name: str) -> Value | None:
        relation = self.relation(name)
        return relation.everything().at_least(TRANSFORMED) if relation is not None else None

    def _stale(self, name: str) -> Value | None:
        """A column that the catalogue does not have yet: the code knows better, if one table may have it."""
        found = [value for relation in self.relations.values() if (value := _of_stale(relation, name)) is not None]
        if len(found) == 1:
            return found[0]
        return joined(found).doubted(AMBIGUOUS - 1) if found else None

    def _not_found(self, text: str) -> Value:
        tables = {source.table for one in self.relations.values() for source in one.everything().sources}
        return of_tables(sorted(tables), NOT_FOUND, f"the column {text[:100]} was not found")

    def _outwards(self) -> Iterator[Frame]:
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.outer


def _of_stale(relation: Relation, name: str) -> Value | None:
    if relation.base is None:
        return None
    why = f"the catalogue does not know the column {name[:100]}"
    return Value(frozenset({Source(relation.base, name)}), IDENTITY).doubted(STALE, why)
