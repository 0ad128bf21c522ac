"""The protocol that every warehouse fulfils, and the values that cross it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from math import isnan
from typing import Any, Protocol

from sqlglot import exp

from foundation.errors import BadInput, NotFound, Unavailable

Cell = Any
"""None, bool, int, str, or lists and dictionaries of these: what JSON and canonical JSON both take."""


class TableMissing(NotFound):
    """The relation is not there at this moment: neither zero rows nor no data (D7)."""


class TimedOut(Unavailable):
    """The query was stopped because its time was over."""


class QueryFailed(BadInput):
    """The warehouse refused the query (an unknown column, a type error, a missing right)."""


@dataclass(frozen=True)
class Relation:
    """The name of a table or view; parts are exact names as the warehouse stores them, not SQL text."""

    database: str | None
    schema: str | None
    name: str

    def __post_init__(self) -> None:
        if self.database and not self.schema:
            raise BadInput("a table name with a database needs a schema as well")
        for part in (self.database, self.schema, self.name):
            if part is not None and (not part or "\0" in part):
                raise BadInput("a part of a table name is empty or holds a null character")

    def __str__(self) -> str:
        return ".".join(part for part in (self.database, self.schema, self.name) if part)

    def tree(self) -> exp.Table:
        """The relation as a sqlglot node with every part quoted; put it into trees, never into text."""
        return exp.Table(
            **{
                arg: exp.to_identifier(part, quoted=True)
                for arg, part in (("this", self.name), ("db", self.schema), ("catalog", self.database))
                if part is not None
            }
        )

    def sql(self, dialect: str) -> str:
        """The quoted name in the words of `dialect`, e.g. `"db"."schema"."table"`."""
        return self.tree().sql(dialect=dialect)


@dataclass(frozen=True)
class Missing:
    """Answer of a measurement on a relation that is not there now; falsy, and not a number on purpose."""

    relation: Relation

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return f"the table {self.relation} is missing"


@dataclass(frozen=True)
class TableInfo:
    """One table or view; `kind` is "table" or "view"."""

    relation: Relation
    kind: str


@dataclass(frozen=True)
class ColumnInfo:
    """One column; `data_type` in the warehouse's own words, `position` counts from 1. `comment` is asked for by
    `Warehouse.inventory` alone."""

    name: str
    data_type: str
    nullable: bool
    position: int
    comment: str = ""


@dataclass(frozen=True)
class TableFacts:
    """All that the warehouse's own catalogue says of one table or view.

    `rows` is its estimate and `bytes` what it takes on the disk, indexes included; None: the warehouse does not say
    (never 0). `definition` is the code of a view, "" for a table.
    """

    relation: Relation
    kind: str
    columns: tuple[ColumnInfo, ...] = ()
    comment: str = ""
    rows: int | None = None
    bytes: int | None = None
    definition: str = ""


@dataclass(frozen=True)
class Rows:
    """A result. `measured_at` (aware, UTC) is a moment at which the data were as shown; `truncated` means
    that the query had more rows than the limit, which are not in `rows`."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    took_ms: int
    truncated: bool
    measured_at: datetime

    def scalar(self) -> Cell:
        """The only cell of a result of one row and one column; BadInput when the shape is another."""
        if len(self.rows) != 1 or len(self.columns) != 1:
            raise BadInput(f"the query gave {len(self.rows)} rows of {len(self.columns)} columns instead of one value")
        return self.rows[0][0]


class Warehouse(Protocol):
    """One connection's read side. Every method opens, asks and closes; nothing stays open between calls.

    All raise Unavailable when the warehouse cannot be asked now (locked, unreachable, disk full)."""

    @property
    def dialect(self) -> str:
        """sqlglot's name of the SQL that this warehouse speaks."""

    def test(self) -> None:
        """Return when a trivial query works; raise Unavailable with one sentence when it does not."""

    def tables(self) -> list[TableInfo]:
        """Tables and views outside the system schemas, ordered by name."""

    def inventory(self) -> list[TableFacts]:
        """Every table and view outside the system schemas with its columns, ordered by name, in one question."""

    def describe(self, relation: Relation) -> list[ColumnInfo] | None:
        """Columns in their order, or None when the relation is missing."""

    def select(self, sql: str, *, label: str, timeout: timedelta, row_limit: int) -> Rows:
        """Run one guarded SELECT. Raises Refused (guard), TableMissing, TimedOut, QueryFailed."""

    def may_write(self) -> str:
        """What the account may do besides reading, in words; "" when nothing (D9: its grants are the real guard)."""

    def row_count(self, relation: Relation) -> int | Missing:
        """count(*) of the relation, or Missing; a missing table is never 0."""


@dataclass(frozen=True)
class Answer:
    """What a driver gave, before its values are made JSON."""

    columns: tuple[str, ...]
    fetched: Sequence[Sequence[Any]]
    took_ms: int
    measured_at: datetime

    def rows(self, row_limit: int) -> Rows:
        """Rows out of at most `row_limit + 1` fetched ones; the one too many only sets `truncated`."""
        cells = tuple(tuple(json_safe(value) for value in row) for row in self.fetched[:row_limit])
        return Rows(self.columns, cells, self.took_ms, len(self.fetched) > row_limit, self.measured_at)


def count_sql(relation: Relation, dialect: str) -> str:
    """`SELECT COUNT(*) FROM <relation>` in the words of `dialect`."""
    return exp.select(exp.Count(this=exp.Star())).from_(relation.tree()).sql(dialect=dialect)


def count_rows(warehouse: Warehouse, relation: Relation, *, timeout: timedelta) -> int | Missing:
    """`Warehouse.row_count` by way of `Warehouse.select`, for every warehouse that tells a missing table."""
    sql = count_sql(relation, warehouse.dialect)
    try:
        return int(warehouse.select(sql, label="row_count", timeout=timeout, row_limit=1).scalar())
    except TableMissing:
        return Missing(relation)


def json_safe(value: Any) -> Cell:
    """A driver's value as JSON: ints stay, other numbers become their shortest exact text, times ISO 8601.

    Floats are texts ("0.1", "NaN", "inf") because canonical JSON knows no floats; bytes are hexadecimal."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): json_safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_safe(item) for item in value]
    return _text(value)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return "NaN" if isnan(value) else repr(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return f"PT{value.total_seconds()}S"
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    return str(value)


def first_line(error: BaseException) -> str:
    """The first line of a driver's message; the rest repeats the query."""
    lines = str(error).strip().splitlines()
    return lines[0].strip() if lines else type(error).__name__
