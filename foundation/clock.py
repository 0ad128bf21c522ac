"""The database's clock, which alone decides what is due."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import DateTimeField, Func
from django.db.models.sql.compiler import SQLCompiler

_SQLITE = "STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f000', 'NOW')"  # six digits, so that it sorts with what Django stores
_POSTGRES = "CLOCK_TIMESTAMP()"


class DatabaseNow(Func):
    """The moment at which the statement runs (never the transaction's start), for `filter()` and `update()`.

    Microseconds on PostgreSQL, milliseconds on SQLite.
    """

    template = _POSTGRES
    output_field = DateTimeField()

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **extra: Any) -> tuple[str, Any]:
        # Func formats its template once more, hence the doubled signs.
        return self.as_sql(compiler, connection, template=_SQLITE.replace("%", "%%"), **extra)


def now() -> datetime:
    """The database's time now, aware, UTC. One query."""
    sqlite = connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_SQLITE.replace('%%', '%') if sqlite else _POSTGRES}")
        (value,) = cursor.fetchone()
    if sqlite:
        return datetime.fromisoformat(value).replace(tzinfo=UTC)
    moment: datetime = value
    return moment.astimezone(UTC)
