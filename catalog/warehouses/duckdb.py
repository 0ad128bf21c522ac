"""DuckDB: open the file, copy it, close it; query the copy with everything outside it switched off."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import duckdb
from django.conf import settings

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
from catalog.warehouses.duckdb_copies import copy_of
from catalog.warehouses.duckdb_inventory import inventory
from catalog.warehouses.duckdb_source import Source
from catalog.warehouses.guard import guard
from catalog.warehouses.timeouts import stop_after
from foundation.errors import BadInput, Unavailable

LOCK_WAIT: Final = timedelta(seconds=30)
INTROSPECTION: Final = timedelta(seconds=60)

TABLES: Final = """
    select database_name, schema_name, table_name, 'table' from duckdb_tables()
    where not internal and not temporary and database_name = current_database()
    union all
    select database_name, schema_name, view_name, 'view' from duckdb_views()
    where not internal and not temporary and database_name = current_database()
    order by 1, 2, 3
"""
COLUMNS: Final = """
    select column_name, data_type, is_nullable, column_index from duckdb_columns()
    where lower(database_name) = lower(coalesce(?, current_database()))
      and lower(schema_name) = lower(coalesce(?, current_schema())) and lower(table_name) = lower(?)
    order by column_index
"""


@dataclass(frozen=True)
class DuckDBWarehouse:
    """One DuckDB file, read through copies of it (`duckdb_copies`)."""

    source: Source
    lock_wait: timedelta = LOCK_WAIT
    dialect: str = "duckdb"

    @classmethod
    def open(cls, params: Mapping[str, Any], secrets: Sequence[str]) -> DuckDBWarehouse:
        """From `path` and, where the queries' database name is not the file's, `database`. BadInput otherwise."""
        unknown = sorted(set(params) - {"path", "database"})
        if unknown or secrets:
            raise BadInput(f"a DuckDB connection takes path and database, not {', '.join([*unknown, *secrets])}")
        path, database = params.get("path"), params.get("database")
        if not isinstance(path, str) or not path:
            raise BadInput("a DuckDB connection needs the path of the file")
        if database is not None and (not isinstance(database, str) or not database.replace("_", "").isalnum()):
            raise BadInput("the database name of a DuckDB connection may hold letters, digits and _")
        return cls(Source(Path(path), Path(settings.SPELLBOOK_DATA_DIR) / "warehouse", database))

    def test(self) -> None:
        """As `Warehouse.test`; makes a copy, so it also proves that there is room for one."""
        self._ask("select 1", [], limit=INTROSPECTION, most=1)

    def tables(self) -> list[TableInfo]:
        """As `Warehouse.tables`."""
        found = self._ask(TABLES, [], limit=INTROSPECTION, most=None)
        return [TableInfo(Relation(row[0], row[1], row[2]), row[3]) for row in found.fetched]

    def inventory(self) -> list[TableFacts]:
        """As `Warehouse.inventory`; the bytes are those of the blocks that hold the table's data, which small tables
        share, so their sum may exceed the file."""
        with self._opened(INTROSPECTION) as (connection, _):
            return inventory(connection)

    def describe(self, relation: Relation) -> list[ColumnInfo] | None:
        """As `Warehouse.describe`; names are compared without case, as DuckDB does."""
        names = [relation.database, relation.schema, relation.name]
        found = self._ask(COLUMNS, names, limit=INTROSPECTION, most=None).fetched
        return [ColumnInfo(row[0], row[1], bool(row[2]), row[3]) for row in found] or None

    def select(self, sql: str, *, label: str, timeout: timedelta, row_limit: int) -> Rows:
        """As `Warehouse.select`; a DuckDB file has nobody to whom `label` could be shown."""
        checked = guard(sql, dialect=self.dialect, row_limit=row_limit)
        return self._ask(checked, [], limit=timeout, most=row_limit + 1).rows(row_limit)

    def may_write(self) -> str:
        """As `Warehouse.may_write`: nothing, since a file has no accounts and copies of it are opened read only."""
        return ""

    def row_count(self, relation: Relation) -> int | Missing:
        """As `Warehouse.row_count`."""
        return count_rows(self, relation, timeout=INTROSPECTION)

    def _ask(self, sql: str, values: Sequence[Any], *, limit: timedelta, most: int | None) -> Answer:
        with self._opened(limit) as (connection, measured_at):
            started = time.monotonic()
            connection.execute(sql, list(values))
            fetched = connection.fetchall() if most is None else connection.fetchmany(most)
            columns = tuple(column[0] for column in connection.description or ())
            return Answer(columns, fetched, round((time.monotonic() - started) * 1000), measured_at)

    @contextmanager
    def _opened(self, limit: timedelta) -> Iterator[tuple[duckdb.DuckDBPyConnection, datetime]]:
        """A copy of the file as it is now, opened, and that moment; what is asked is stopped after `limit`."""
        with copy_of(self.source, wait=self.lock_wait) as file:
            copied = datetime.now(UTC)
            with _connection(file) as connection, stop_after(limit, connection.interrupt), _errors_said(limit):
                yield connection, copied


@contextmanager
def _connection(file: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    # One spill directory a process: DuckDB numbers the files in it from zero.
    spill = file.parent / f"spill-{os.getpid()}"
    try:
        connection = duckdb.connect(str(file), read_only=True, config=_config(spill))
    except duckdb.Error as error:
        raise Unavailable(f"not evaluated: the DuckDB file {file.name} cannot be read: {first_line(error)}") from error
    try:
        yield connection
    finally:
        connection.close()


def _config(spill: Path) -> dict[str, Any]:
    return {
        "enable_external_access": "false",
        "lock_configuration": "true",
        "autoload_known_extensions": "false",
        "autoinstall_known_extensions": "false",
        "python_enable_replacements": "false",  # or `from name` would read a Python variable of that name
        "memory_limit": "500MB",
        "threads": "2",
        "temp_directory": str(spill),
        "max_temp_directory_size": "4GB",
    }


@contextmanager
def _errors_said(limit: timedelta) -> Iterator[None]:
    try:
        yield
    except duckdb.InterruptException as error:
        raise TimedOut(f"not evaluated: the query took longer than {limit.total_seconds():g} s") from error
    except duckdb.CatalogException as error:
        if str(error).startswith("Catalog Error: Table with name"):
            raise TableMissing("a table that the query reads is missing") from error
        raise QueryFailed(f"DuckDB refused the query: {first_line(error)}") from error
    except duckdb.OutOfMemoryException as error:
        raise Unavailable("not evaluated: the query needs more memory than the 500 MB it may use") from error
    except (duckdb.ProgrammingError, duckdb.DataError) as error:
        raise QueryFailed(f"DuckDB refused the query: {first_line(error)}") from error
    except duckdb.Error as error:
        full = "No space left" in str(error)
        reason = "the disk is full" if full else first_line(error)
        raise Unavailable(f"not evaluated: {reason}") from error
