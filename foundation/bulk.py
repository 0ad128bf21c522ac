"""Many rows at once: the quickest way of each database, behind one function a purpose.

Values are given as the field has them in Python, but for JSON, which may also come as its text: whoever made the text
once need not make it twice. Nothing here opens a transaction, and no function returns keys.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any, TypeAlias, TypeVar

import orjson
from django.db import connection, models
from django.db.models import Field, QuerySet, Value
from django.db.models.expressions import RawSQL

T = TypeVar("T")
Row: TypeAlias = Sequence[Any]


def insert(model: type[models.Model], names: Sequence[str], rows: Iterable[Row], *, ignore: bool = False) -> None:
    """Insert `rows`, whose values stand in the order of the fields `names` (`asset_id`, not `asset`).

    PostgreSQL: COPY, SQLite: one prepared statement. With `ignore` a row that breaks a unique rule is left out.
    Database errors are Django's, as from a queryset.
    """
    fields = _fields(model, names)
    ready = _ready(fields, rows)
    if connection.vendor != "postgresql":
        _many(_statement("INSERT OR IGNORE INTO" if ignore else "INSERT INTO", model, fields), ready)
    elif ignore:
        _recorded(model, fields, ready, "ON CONFLICT DO NOTHING")
    else:
        _copy(model, fields, ready)


def put(model: type[models.Model], names: Sequence[str], rows: Iterable[Row], *, key: str) -> None:
    """Insert `rows`, or where one has the unique field `key` already, set its other fields; each key at most once."""
    fields = _fields(model, names)
    others = [_quoted(field) for field in fields if field.attname != key]
    column = next(_quoted(field) for field in fields if field.attname == key)
    end = f"ON CONFLICT ({column}) DO UPDATE SET " + ", ".join(f"{one} = EXCLUDED.{one}" for one in others)
    ready = _ready(fields, rows)
    if connection.vendor == "postgresql":
        _recorded(model, fields, ready, end)
    else:
        _many(f"{_statement('INSERT INTO', model, fields)} {end}", ready)


def update(model: type[models.Model], names: Sequence[str], rows: Iterable[Row]) -> None:
    """Set the fields `names` of many rows, each `(pk, values…)`."""
    fields = _fields(model, [model._meta.pk.attname, *names])
    ready = _ready(fields, rows)
    table, key, *columns = connection.ops.quote_name(model._meta.db_table), *(_quoted(field) for field in fields)
    if connection.vendor == "postgresql":
        sets = ", ".join(f"{column} = given.{column}" for column in columns)
        parts = ("UPDATE", table, "SET", sets, "FROM", _records(fields), "WHERE", f"{table}.{key} = given.{key}")
        _whole(" ".join(parts), fields, ready)
    else:
        sets = ", ".join(f"{column} = %s" for column in columns)
        _many(" ".join(("UPDATE", table, "SET", sets, "WHERE", f"{key} = %s")), ((*row[1:], row[0]) for row in ready))


def transfer(rows: QuerySet[Any], model: type[models.Model], names: Sequence[str], **constants: Any) -> None:
    """Insert the fields `names` of `rows` into `model` by one statement, the same `constants` into every row."""
    fields = _fields(model, [*names, *constants])
    values = [
        Value(value, output_field=field) for value, field in zip(constants.values(), fields[len(names) :], strict=True)
    ]
    select, parameters = rows.values_list(*names, *values).query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {_into(model, fields)} {select}", parameters)


def among(values: Sequence[int] | Sequence[str]) -> RawSQL | tuple[()]:
    """What stands in `filter(pk__in=among(pks))`: any number of values as one parameter, found by the index."""
    if not values:
        return ()
    if connection.vendor == "postgresql":
        kind = "text" if isinstance(values[0], str) else "bigint"
        return RawSQL(f"SELECT unnest(%s::{kind}[])", [list(values)])  # noqa: S611 -- one of two words
    return RawSQL("SELECT value FROM json_each(%s)", [orjson.dumps(list(values)).decode()])


def chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """`items` in order, `size` at a time: what one short transaction, or one statement, takes."""
    return (items[start : start + size] for start in range(0, len(items), size))


_pausing = Lock()
_pauses = {"depth": 0, "ours": 0}


@contextmanager
def patient() -> Iterator[None]:
    """No garbage collection meanwhile: a large document is hundreds of thousands of containers without one cycle, and
    walking them again and again takes longer than reading the document."""
    with _pausing:
        if _pauses["depth"] == 0 and gc.isenabled():
            gc.disable()
            _pauses["ours"] = 1
        _pauses["depth"] += 1
    try:
        yield
    finally:
        with _pausing:
            _pauses["depth"] -= 1
            if _pauses["depth"] == 0 and _pauses["ours"]:
                _pauses["ours"] = 0
                gc.enable()


def _fields(model: type[models.Model], names: Sequence[str]) -> list[Field[Any, Any]]:
    by_name = {field.attname: field for field in model._meta.concrete_fields}
    return [by_name[name] for name in names]


def _ready(fields: Sequence[Field[Any, Any]], rows: Iterable[Row]) -> Iterable[Row]:
    """The rows as the driver takes them; most columns need nothing done."""
    ways = [(place, way) for place, field in enumerate(fields) if (way := _way(field))]
    if not ways:
        return rows
    return (_row(row, ways) for row in rows)


def _row(row: Row, ways: Sequence[tuple[int, Callable[[Any], Any]]]) -> Row:
    ready = list(row)
    for place, way in ways:
        ready[place] = way(ready[place])
    return ready


def _way(field: Field[Any, Any]) -> Callable[[Any], Any] | None:
    kind = field.get_internal_type()
    if kind == "JSONField":
        return lambda value: value if value is None or isinstance(value, str) else orjson.dumps(value).decode()
    if connection.vendor == "postgresql" or kind not in ("UUIDField", "DateTimeField"):
        return None
    if kind == "UUIDField":
        return lambda value: value.hex if value else None
    # The rows of one call mostly share their moment and their batch.
    return lru_cache(maxsize=64)(lambda value: field.get_db_prep_value(value, connection))


def _into(model: type[models.Model], fields: Sequence[Field[Any, Any]]) -> str:
    return f"{connection.ops.quote_name(model._meta.db_table)} ({', '.join(_quoted(field) for field in fields)})"


def _quoted(field: Field[Any, Any]) -> str:
    return connection.ops.quote_name(str(field.column))


def _statement(verb: str, model: type[models.Model], fields: Sequence[Field[Any, Any]]) -> str:
    return " ".join((verb, _into(model, fields), "VALUES (" + ", ".join(["%s"] * len(fields)) + ")"))


def _many(statement: str, rows: Iterable[Row]) -> None:
    with connection.cursor() as cursor:
        cursor.executemany(statement, list(rows))


def _copy(model: type[models.Model], fields: Sequence[Field[Any, Any]], rows: Iterable[Row]) -> None:
    statement = f"COPY {_into(model, fields)} FROM STDIN"
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def _recorded(model: type[models.Model], fields: Sequence[Field[Any, Any]], rows: Iterable[Row], end: str) -> None:
    columns = ", ".join(_quoted(field) for field in fields)
    parts = ("INSERT INTO", _into(model, fields), "SELECT", columns, "FROM", _records(fields), end)
    _whole(" ".join(parts), fields, rows)


def _records(fields: Sequence[Field[Any, Any]]) -> str:
    columns = ", ".join(f"{_quoted(field)} {_kind(field)}" for field in fields)
    return f"jsonb_to_recordset(%s::jsonb) AS given({columns})"


def _kind(field: Field[Any, Any]) -> str:
    """The type of a column; text is never cast to its length, since a cast would cut it without a word."""
    kind = field.db_type(connection) or "text"
    return "text" if kind.startswith(("varchar", "char")) else kind


def _whole(statement: str, fields: Sequence[Field[Any, Any]], rows: Iterable[Row]) -> None:
    """Run `statement` with all rows as one JSON parameter: quoted once, where arrays quote each value twice."""
    names = [field.column for field in fields]
    json = [place for place, field in enumerate(fields) if field.get_internal_type() == "JSONField"]
    records = [dict(zip(names, _fragments(row, json), strict=True)) for row in rows]
    if records:
        with connection.cursor() as cursor:
            cursor.execute(statement, [orjson.dumps(records).decode()])


def _fragments(row: Row, json: Sequence[int]) -> Row:
    ready = list(row)
    for place in json:
        if ready[place] is not None:
            ready[place] = orjson.Fragment(ready[place])
    return ready
