"""The databases under test: one migrated template per session, copied for each worker and each test that commits.

SQLite copies a file. PostgreSQL copies with CREATE DATABASE … TEMPLATE; the schema belongs to an owner role and the
tests connect as an app role that is neither owner nor superuser and may only read and write rows. Nothing is flushed.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
from django.core.management import call_command
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import sql

from spellbook.settings import database


def open_at(url: str) -> BaseDatabaseWrapper:
    """Point `connections["default"]` of this thread and every later one at `url`; returns the replaced connection."""
    previous = connections["default"]
    settings_dict: dict[str, Any] = {"default": database(url)}
    connections.settings["default"] = connections.configure_settings(settings_dict)["default"]
    connections["default"] = connections.create_connection("default")
    return previous


def put_back(previous: BaseDatabaseWrapper) -> None:
    """Close the present connection and restore the one that `open_at` returned, open transactions included."""
    connections["default"].close()
    connections.settings["default"] = previous.settings_dict
    connections["default"] = previous


def migrate(url: str) -> None:
    previous = open_at(url)
    try:
        call_command("migrate", verbosity=0)
    finally:
        put_back(previous)


class Engine(ABC):
    """What both engines share: the template is made by whichever worker comes first, under a file lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def template(self) -> Iterator[None]:
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            ready = self.folder / "ready"
            if not ready.exists():
                self.make_template()
                ready.touch()
            yield

    @abstractmethod
    def make_template(self) -> None:
        """Migrate the database that every other one is copied from."""

    @abstractmethod
    def copy(self) -> str:
        """URL of a fresh database with the migrated schema and nothing else."""

    @abstractmethod
    def drop(self, url: str) -> None:
        """Remove what `copy` made."""


class SQLite(Engine):
    def make_template(self) -> None:
        migrate(f"sqlite:///{self.folder}/template.sqlite3")

    def copy(self) -> str:
        path = self.folder / f"{secrets.token_hex(6)}.sqlite3"
        with self.template():
            shutil.copyfile(self.folder / "template.sqlite3", path)
        return f"sqlite:///{path}"

    def drop(self, url: str) -> None:
        path = url.removeprefix("sqlite:///")
        for suffix in ("", "-wal", "-shm"):
            Path(path + suffix).unlink(missing_ok=True)


class Postgres(Engine):
    """`admin` is the URL of a role that may create roles and databases; all names carry a prefix of this session."""

    def __init__(self, folder: Path, admin: str) -> None:
        super().__init__(folder)
        self.admin = admin
        self.prefix = f"sbt_{folder.name.replace('-', '_').lower()}"
        self.owner, self.app = f"{self.prefix}_owner", f"{self.prefix}_app"
        self.password = self.prefix[::-1]

    def url(self, name: str, role: str) -> str:
        parts = urlsplit(self.admin)
        host = parts.netloc.rpartition("@")[2]
        netloc = f"{quote(role)}:{quote(self.password)}@{host}"
        return urlunsplit(parts._replace(netloc=netloc, path=f"/{name}"))

    def execute(self, *statements: str, name: str = "") -> None:
        url = urlunsplit(urlsplit(self.admin)._replace(path=f"/{name}")) if name else self.admin
        names = {"owner": self.owner, "app": self.app, "template": f"{self.prefix}_template"}
        with psycopg.connect(url, autocommit=True) as connection:
            for statement in statements:
                connection.execute(sql.SQL(statement).format(**{k: sql.Identifier(v) for k, v in names.items()}))

    def make_template(self) -> None:
        self.execute(
            f"CREATE ROLE {{owner}} LOGIN PASSWORD '{self.password}'",
            f"CREATE ROLE {{app}} LOGIN PASSWORD '{self.password}'",
            "GRANT {owner} TO CURRENT_USER",
            "CREATE DATABASE {template} OWNER {owner}",
        )
        name = f"{self.prefix}_template"
        self.execute(
            "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {app}",
            "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} GRANT USAGE, SELECT ON SEQUENCES TO {app}",
            name=name,
        )
        migrate(self.url(name, self.owner))

    def copy(self) -> str:
        name = f"{self.prefix}_{secrets.token_hex(6)}"
        with self.template():
            self.execute(f"CREATE DATABASE {name} TEMPLATE {{template}} OWNER {{owner}}")
        return self.url(name, self.app)

    def drop(self, url: str) -> None:
        self.execute(f"DROP DATABASE IF EXISTS {urlsplit(url).path.lstrip('/')} WITH (FORCE)")

    def drop_all(self) -> None:
        """Drop whatever this session made on a server that goes on living."""
        with psycopg.connect(self.admin, autocommit=True) as connection:
            rows = connection.execute(
                "SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [self.prefix]
            ).fetchall()
        for (name,) in rows:
            self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        self.execute("DROP ROLE IF EXISTS {app}", "DROP ROLE IF EXISTS {owner}")


def chosen() -> str:
    """`sqlite` or `postgres`: SPELLBOOK_TEST_ENGINE, else the scheme of the session's DATABASE_URL."""
    name = os.environ.get("SPELLBOOK_TEST_ENGINE", "")
    if not name:
        name = "postgres" if os.environ.get("SPELLBOOK_TEST_DATABASE_URL", "").startswith("postgres") else "sqlite"
    if name not in ("sqlite", "postgres"):
        raise ValueError(f"SPELLBOOK_TEST_ENGINE must be sqlite or postgres, not {name!r}.")
    return name


def engine() -> Engine:
    """The engine of this session; its folder and its server were made by the first process."""
    folder = Path(os.environ["SPELLBOOK_TEST_FOLDER"])
    return SQLite(folder) if chosen() == "sqlite" else Postgres(folder, os.environ["SPELLBOOK_TEST_DATABASE_URL"])
