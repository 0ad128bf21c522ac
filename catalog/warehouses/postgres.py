"""PostgreSQL through psycopg: one connection a question, read only, with a timeout and a name."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

import psycopg
from psycopg import conninfo, errors

from catalog.warehouses.base import (
    Answer,
    ColumnInfo,
    Missing,
    QueryFailed,
    Relation,
    Rows,
    TableFacts,
    TableInfo,
    TableMissing,
    TimedOut,
    count_rows,
    first_line,
)
from catalog.warehouses.guard import guard
from catalog.warehouses.postgres_inventory import OPTIONS, RIGHTS, TABLES_IN_FULL, facts_of, rights_in_words
from catalog.warehouses.timeouts import stop_after
from foundation.errors import BadInput, Unavailable
from foundation.http import pin
from foundation.secrets import secret

PARAMS: Final = frozenset({"host", "port", "dbname", "user", "sslmode", "sslrootcert"})
INTROSPECTION: Final = timedelta(seconds=60)
SILENCE: Final = timedelta(seconds=5)  # past the server's own timeout, then the line is cut
CONNECT_SECONDS: Final = 10

TABLES: Final = """
    select current_database(), n.nspname, c.relname, case when c.relkind in ('v', 'm') then 'view' else 'table' end
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
    order by 2, 3
"""
COLUMNS: Final = """
    select a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), not a.attnotnull, a.attnum
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    left join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where coalesce(%s::text, current_database()::text) = current_database()::text
      and n.nspname = coalesce(%s::text, current_schema()::text) and c.relname = %s
      and c.relkind in ('r', 'p', 'v', 'm', 'f')
    order by a.attnum
"""


@dataclass(frozen=True)
class PostgresWarehouse:
    """One PostgreSQL database. `secret_name` says where the password (or the whole address) lies."""

    params: Mapping[str, str]
    secret_name: str | None = None
    dialect: str = "postgres"

    @classmethod
    def open(cls, params: Mapping[str, Any], secrets: Sequence[str]) -> PostgresWarehouse:
        """From host, port, dbname, user, sslmode, sslrootcert or a `uri` without password, and at most one secret:
        the password, or the whole address where the parameters name no host. BadInput for anything else, and for a
        password among the parameters."""
        if len(secrets) > 1:
            raise BadInput("a PostgreSQL connection takes one secret, the password or the whole address")
        plain = {key: str(value) for key, value in params.items() if key != "uri"}
        uri = params.get("uri")
        address = _allowed({**(_parsed(str(uri)) if uri else {}), **plain})
        return cls(address, secrets[0] if secrets else None)

    def test(self) -> None:
        """As `Warehouse.test`."""
        self._ask("select 1", [], label="test", limit=INTROSPECTION)

    def tables(self) -> list[TableInfo]:
        """As `Warehouse.tables`; partitions, foreign tables and materialised views included."""
        found = self._ask(TABLES, [], label="tables", limit=INTROSPECTION).fetched
        return [TableInfo(Relation(row[0], row[1], row[2]), row[3]) for row in found]

    def inventory(self) -> list[TableFacts]:
        """As `Warehouse.inventory`; partitions count into their table, what an extension brought is left out."""
        found = self._ask(TABLES_IN_FULL, [], label="inventory", limit=INTROSPECTION, more=OPTIONS).fetched
        return [facts_of(row) for row in found]

    def describe(self, relation: Relation) -> list[ColumnInfo] | None:
        """As `Warehouse.describe`; names are compared exactly, as quoted ones."""
        names = [relation.database, relation.schema, relation.name]
        found = self._ask(COLUMNS, names, label="describe", limit=INTROSPECTION).fetched
        # A table without columns is one row of nulls, a missing table is no row.
        return [ColumnInfo(*row) for row in found if row[0] is not None] if found else None

    def select(self, sql: str, *, label: str, timeout: timedelta, row_limit: int) -> Rows:
        """As `Warehouse.select`; `label` is the session's application_name."""
        checked = guard(sql, dialect=self.dialect, row_limit=row_limit)
        return self._ask(checked, None, label=label, limit=timeout).rows(row_limit)

    def may_write(self) -> str:
        """As `Warehouse.may_write`."""
        found = self._ask(RIGHTS, [], label="rights", limit=INTROSPECTION).fetched[0]
        return rights_in_words(*found)

    def row_count(self, relation: Relation) -> int | Missing:
        """As `Warehouse.row_count`."""
        return count_rows(self, relation, timeout=INTROSPECTION)

    def _ask(self, sql: str, values: Sequence[Any] | None, *, label: str, limit: timedelta, more: str = "") -> Answer:
        with (
            _connection(self._address(), label, limit, more) as connection,
            _errors_said(limit),
            stop_after(limit + SILENCE, lambda: _cut(connection)),
        ):
            measured_at, started = datetime.now(UTC), time.monotonic()
            # A prepared statement is one statement by protocol.
            cursor = connection.execute(sql, values, prepare=True)
            fetched = cursor.fetchall()
            columns = tuple(column.name for column in cursor.description or ())
        return Answer(columns, fetched, round((time.monotonic() - started) * 1000), measured_at)

    def _address(self) -> dict[str, str]:
        address = dict(self.params)
        if self.secret_name and "host" in address:
            address["password"] = secret(self.secret_name)
        elif self.secret_name:
            address = _allowed(_parsed(secret(self.secret_name)), more={"password"}) | address
        return address | _route(address)


def _parsed(uri: str) -> dict[str, str]:
    try:
        return {key: str(value) for key, value in conninfo.conninfo_to_dict(uri).items() if value}
    except psycopg.Error:
        # libpq's message and its traceback quote the address, which may hold the password.
        raise BadInput("the address of the PostgreSQL connection cannot be read") from None


def _allowed(params: Mapping[str, str], more: frozenset[str] | set[str] = frozenset()) -> dict[str, str]:
    if "password" in params and "password" not in more:
        raise BadInput("a PostgreSQL connection names its password as a secret, it does not hold it")
    unknown = sorted(set(params) - PARAMS - more)
    if unknown:
        raise BadInput(f"a PostgreSQL connection does not take {', '.join(unknown)}")
    if not params.get("port", "5432").isdecimal():
        raise BadInput("the port of the PostgreSQL connection is not a number")
    return dict(params)


def _route(address: Mapping[str, str]) -> dict[str, str]:
    """The one network address to connect to, allowed by the operator and looked up once (D11); none for a socket."""
    host = address.get("host")
    if not host:
        raise BadInput("the PostgreSQL connection names no host")
    return {} if host.startswith("/") else {"hostaddr": str(pin(host, int(address.get("port", "5432"))))}


@contextmanager
def _connection(
    address: Mapping[str, str], label: str, limit: timedelta, more: str = ""
) -> Iterator[psycopg.Connection]:
    milliseconds = max(1, round(limit.total_seconds() * 1000))
    options = (
        f"-c default_transaction_read_only=on -c statement_timeout={milliseconds} -c lock_timeout={milliseconds}"
        " -c idle_in_transaction_session_timeout=60s -c standard_conforming_strings=on -c TimeZone=UTC"
        " -c DateStyle=ISO -c IntervalStyle=iso_8601" + more
    )
    try:
        connection = psycopg.connect(
            **cast(dict[str, Any], address),
            options=options,
            application_name=_name(label),
            connect_timeout=CONNECT_SECONDS,
            tcp_user_timeout=milliseconds + 10_000,
        )
    except psycopg.Error as error:
        where = f"{address.get('host', 'localhost')}:{address.get('port', '5432')}"
        raise Unavailable(f"not evaluated: cannot connect to PostgreSQL at {where}: {_reason(error)}") from None
    try:
        connection.read_only = True
        yield connection
    finally:
        connection.close()


def _name(label: str) -> str:
    """The label as application_name: printable ASCII, at most 63 bytes (NAMEDATALEN - 1)."""
    full = label if label.startswith("spellbook/") else f"spellbook/{label}"
    return "".join(letter if " " <= letter <= "~" else "?" for letter in full)[:63]


def _reason(error: psycopg.Error) -> str:
    if isinstance(error, errors.ConnectionTimeout):
        return f"no answer within {CONNECT_SECONDS} s"
    # "connection to server at ... failed: FATAL:  ..."; what stands before the last "failed" repeats the address.
    return first_line(error).rsplit("failed: ", 1)[-1].replace("FATAL:", "").strip()


def _cut(connection: psycopg.Connection) -> None:
    """End a connection whose server does not answer any more; psycopg then raises in the waiting thread."""
    try:
        line = socket.socket(fileno=os.dup(connection.fileno()))
        with line:
            line.shutdown(socket.SHUT_RDWR)
    except (OSError, psycopg.Error):
        return  # already closed


@contextmanager
def _errors_said(limit: timedelta) -> Iterator[None]:
    try:
        yield
    except (errors.UndefinedTable, errors.InvalidSchemaName) as error:
        raise TableMissing("a table that the query reads is missing") from error
    except errors.LockNotAvailable as error:
        raise TimedOut("not evaluated: somebody else has locked a table that the query reads") from error
    except errors.QueryCanceled as error:
        raise TimedOut(f"not evaluated: the query took longer than {limit.total_seconds():g} s") from error
    except (psycopg.OperationalError, psycopg.InternalError) as error:
        raise Unavailable(f"not evaluated: PostgreSQL does not answer: {first_line(error)}") from error
    except psycopg.Error as error:
        raise QueryFailed(f"PostgreSQL refused the query: {first_line(error)}") from error
