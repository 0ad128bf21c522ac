"""How the example's scripts open a DuckDB file: with little memory, and patiently while another process has it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import duckdb

ATTEMPTS = 60
PAUSE_SECONDS = 0.5
T = TypeVar("T")


def connect(path: Path, *, read_only: bool = False) -> duckdb.DuckDBPyConnection:
    """An open connection; waits up to 30 seconds for a process that holds the file, then raises `duckdb.IOException`.

    Raises `FileNotFoundError` at once when a file that is only to be read is missing.
    """
    if read_only and not path.is_file():
        raise FileNotFoundError(f"there is no DuckDB file at {path}")
    limits: dict[str, str | bool | int | float | list[str]] = {"memory_limit": "500MB", "threads": 2}
    return patiently(lambda: duckdb.connect(path, read_only=read_only, config=limits))


def attach(connection: duckdb.DuckDBPyConnection, path: Path, alias: str) -> None:
    """Opens a second file for writing in the same connection, with the same patience; it is made when it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    literal, name = str(path).replace("'", "''"), alias.replace('"', '""')
    patiently(lambda: connection.execute(f"attach '{literal}' as \"{name}\" (read_only false)"))


def patiently(step: Callable[[], T]) -> T:
    """The step's result, tried again while another process holds the file."""
    for _ in range(ATTEMPTS - 1):
        try:
            return step()
        except duckdb.IOException as error:
            if "lock" not in str(error).lower():
                raise
            time.sleep(PAUSE_SECONDS)
    return step()
