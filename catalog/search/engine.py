"""The full text of the two engines behind one form: which entries hold these words.

SQLite has FTS5 (https://www.sqlite.org/fts5.html), PostgreSQL two vectors with GIN
(https://www.postgresql.org/docs/current/datatype-textsearch.html). Both get the same words and answer the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.db import connection, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Expression, F
from django.db.models.sql.compiler import SQLCompiler

Where = Literal["all", "name", "rest"]

_FORGET = "DELETE FROM catalog_searchtext WHERE rowid IN (SELECT value FROM json_each(%s))"
_LEARN = """
INSERT INTO catalog_searchtext (rowid, name_words, column_words, other_words)
SELECT asset_id, name_words, column_words, other_words FROM catalog_searchentry
WHERE asset_id IN (SELECT value FROM json_each(%s))
"""


@dataclass(frozen=True)
class Wanted:
    """A word that an entry must hold, at least as the beginning of one of its own; a mark in its place is as good.

    Words come from `catalog.search.text.words`, marks from `catalog.search.marks`: neither holds a quotation mark.
    """

    word: str
    marks: tuple[str, ...] = ()


class Holds(Expression):
    """A condition on `SearchEntry`: the entry holds every word of `wanted` (at least one).

    `where`: anywhere (all), all of them in the name (name), or anywhere but not all in the name (rest).
    """

    def __init__(self, wanted: Sequence[Wanted], where: Where = "all") -> None:
        super().__init__(output_field=models.BooleanField())
        self.entry: Any = F("pk")
        self.wanted, self.where = tuple(wanted), where

    def get_source_expressions(self) -> list[Any]:
        return [self.entry]

    def set_source_expressions(self, exprs: Sequence[Any]) -> None:
        (self.entry,) = exprs

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **extra: Any) -> tuple[str, list[Any]]:
        column, _ = compiler.compile(self.entry)
        text = _fts5(self.wanted, self.where)
        return f"{column} IN (SELECT rowid FROM catalog_searchtext WHERE catalog_searchtext MATCH %s)", [text]  # noqa: S608

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **extra: Any
    ) -> tuple[str, list[Any]]:
        column, _ = compiler.compile(self.entry)
        return _vectors(self.wanted, self.where, f"{column.rpartition('.')[0]}.")


def count(wanted: Sequence[Wanted], where: Where = "all") -> int:
    """How many entries hold every word, without reading any of them."""
    if connection.vendor == "sqlite":
        source, parameters = "catalog_searchtext WHERE catalog_searchtext MATCH %s", [_fts5(wanted, where)]
    else:
        test, parameters = _vectors(wanted, where, "")
        source = f"catalog_searchentry WHERE {test}"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM {source}", parameters)  # noqa: S608 -- the words are parameters
        return int(cursor.fetchone()[0])


def forget(ids: Sequence[int]) -> None:
    """Take the words of these entries out of SQLite's full text."""
    _sync(_FORGET, ids)


def learn(ids: Sequence[int]) -> None:
    """Put the words of entries as they are now into SQLite's full text. PostgreSQL keeps its vectors by itself."""
    _sync(_LEARN, ids)


def _sync(statement: str, ids: Sequence[int]) -> None:
    if connection.vendor == "sqlite" and ids:
        with connection.cursor() as cursor:
            cursor.execute(statement, [f"[{','.join(map(str, ids))}]"])


def _fts5(wanted: Sequence[Wanted], where: Where) -> str:
    everywhere = " AND ".join(f"({' OR '.join(_phrases(one))})" for one in wanted)
    named = " AND ".join(f'"{one.word}"*' for one in wanted)
    if where == "all":
        return everywhere
    return f"name_words : ({named})" if where == "name" else f"({everywhere}) NOT (name_words : ({named}))"


def _phrases(one: Wanted) -> list[str]:
    return [f'"{one.word}"*', *(f'"{mark}"' for mark in one.marks)]


def _vectors(wanted: Sequence[Wanted], where: Where, alias: str) -> tuple[str, list[str]]:
    everywhere = " & ".join(f"({' | '.join(_lexemes(one))})" for one in wanted)
    named = " & ".join(f"'{one.word}':*" for one in wanted)
    anywhere, in_name = f"{alias}all_vector @@ %s::tsquery", f"{alias}name_vector @@ %s::tsquery"
    if where == "all":
        return anywhere, [everywhere]
    return (in_name, [named]) if where == "name" else (f"({anywhere} AND NOT {in_name})", [everywhere, named])


def _lexemes(one: Wanted) -> list[str]:
    return [f"'{one.word}':*", *(f"'{mark}'" for mark in one.marks)]
