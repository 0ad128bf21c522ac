"""The customer's DuckDB file itself: what it is now, and DuckDB's read lock on it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import duckdb

from catalog.warehouses.base import first_line
from foundation.errors import Unavailable

POLL: Final = 0.05  # seconds between two tries for a lock
RACY: Final = 20_000_000  # ns; a file system's clock may tick this slowly, two writes within one tick look like one
LOCK_ONLY: Final[dict[str, Any]] = {
    "threads": "1",
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
}


@dataclass(frozen=True)
class Source:
    """A customer's file and where its copies live; `database` is the name that queries know it by
    (default: the file's own)."""

    file: Path
    cache: Path
    database: str | None = None

    @property
    def room(self) -> Path:
        """The directory of this file's copies."""
        return self.cache / sha256(f"{self.file.resolve()}\0{self.database or ''}".encode()).hexdigest()[:20]

    @property
    def copy_name(self) -> str:
        """The copy's file name; DuckDB derives the database name from it."""
        return f"{self.database}.duckdb" if self.database else self.file.name

    @property
    def log(self) -> Path:
        """The write-ahead log beside the file; it exists only while commits wait for a checkpoint."""
        return self.file.with_name(self.file.name + ".wal")


def opened(source: Source, give_up: float) -> duckdb.DuckDBPyConnection:
    """Take DuckDB's own read lock on the file, so that nobody writes while it is copied."""
    opened: list[duckdb.DuckDBPyConnection] = []

    def attempt() -> bool:
        try:
            opened.append(duckdb.connect(str(source.file), read_only=True, config=LOCK_ONLY))
        except duckdb.Error as error:
            if not _is_lock(error):
                raise _cannot_open(source, error) from error
        return bool(opened)

    until(give_up, source, attempt)
    return opened[0]


def _is_lock(error: duckdb.Error) -> bool:
    # Within one process DuckDB does not lock but compares configurations.
    return "set lock on file" in str(error) or isinstance(error, duckdb.ConnectionException)


def _cannot_open(source: Source, error: duckdb.Error) -> Unavailable:
    if "not a valid DuckDB" in str(error):
        return Unavailable(f"not evaluated: the file {source.file.name} is not a DuckDB database")
    reason = first_line(error).replace(str(source.file), source.file.name)
    return Unavailable(f"not evaluated: the DuckDB file {source.file.name} cannot be opened: {reason}")


def state_of(source: Source) -> str:
    """The name of the copy of what the file is now. The file is looked at twice, because a checkpoint
    writes it first and removes the log afterwards."""
    while True:
        try:
            before, log, after = _mark(source.file), _log_mark(source), _mark(source.file)
        except FileNotFoundError as error:
            raise Unavailable(f"not evaluated: the DuckDB file {source.file.name} does not exist") from error
        except PermissionError as error:
            raise Unavailable(f"not evaluated: the DuckDB file {source.file.name} may not be read") from error
        if before == after:
            return f"copy-{before}-{log}"


def _mark(file: Path) -> str:
    found = file.stat()
    return f"{found.st_ino}.{found.st_mtime_ns}.{found.st_size}"


def _log_mark(source: Source) -> str:
    try:
        return _mark(source.log)
    except FileNotFoundError:
        return "0"


def let_clock_tick(file: Path) -> None:
    age = time.time_ns() - file.stat().st_mtime_ns
    if 0 <= age < RACY:
        time.sleep((RACY - age) / 1e9)


def until(give_up: float, source: Source, attempt: Callable[[], bool]) -> None:
    while not attempt():
        if time.monotonic() >= give_up:
            raise Unavailable(f"not evaluated: the DuckDB file {source.file.name} is locked by another process")
        time.sleep(POLL)
