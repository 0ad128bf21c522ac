"""The database's clock, which alone decides what is due, and the next run of a cron line in a time zone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import DateTimeField, Func
from django.db.models.sql.compiler import SQLCompiler

from foundation.errors import BadInput

_SQLITE = "STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f000', 'NOW')"  # six digits, so that it sorts with what Django stores
_POSTGRES = "CLOCK_TIMESTAMP()"
_NO_ZONES = ("localtime", "posixrules", "posix/", "right/", "Factory")


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


def next_run(cron: str, zone: str, after: datetime) -> datetime:
    """The first moment after `after` (aware) at which the five-field `cron` line fires in the IANA `zone`; UTC.

    A local time that a change to summer time skips fires at the first moment after the gap; one that occurs twice
    fires once (as Debian's cron does). Raises BadInput when the line, the zone or `after` cannot be used.
    """
    if after.tzinfo is None:
        raise BadInput("The moment to count from needs a time zone.")
    if len(cron.split()) != 5:
        raise BadInput(f"A cron line has five fields, not as in {cron!r}.")
    try:
        return next(CronSim(cron, after.astimezone(_zone(zone)))).astimezone(UTC)
    except CronSimError as error:
        raise BadInput(f"The cron line {cron!r} cannot be read: {error}.") from None
    except StopIteration:
        raise BadInput(f"The cron line {cron!r} never fires.") from None


def _zone(name: str) -> ZoneInfo:
    """A zone of the IANA's list; files of the system that mean another thing on another machine are none."""
    if name.startswith(_NO_ZONES):
        raise BadInput(f"There is no time zone {name!r}.")
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        raise BadInput(f"There is no time zone {name!r}.") from None
