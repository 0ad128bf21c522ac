"""The triggers as they should be and as the database's catalogue has them.

A SQLite table rebuild drops triggers silently and chokes on triggers of other tables that mention the table, so there
they are taken down before a migration; on both engines all of them are made anew after each migrate.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from django.apps import apps
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils.module_loading import module_has_submodule

from foundation.triggers import postgres, sqlite
from foundation.triggers.shape import Trigger


def all_triggers() -> list[Trigger]:
    """The lists of all installed apps, in the order of the apps; ValueError when two triggers share a name."""
    found: list[Trigger] = []
    for config in apps.get_app_configs():
        if config.module is not None and module_has_submodule(config.module, "triggers"):
            found += getattr(import_module(f"{config.name}.triggers"), "TRIGGERS", [])
    names = [trigger.name for trigger in found]
    if len(set(names)) != len(names):
        raise ValueError(f"Two triggers share a name: {sorted(name for name in names if names.count(name) > 1)[0]}.")
    return found


def install(using: str = "default") -> None:
    """Drop every trigger of ours and create the whole list, for the tables that exist, in one transaction."""
    connection = connections[using]
    tables = set(connection.introspection.table_names())
    with transaction.atomic(using=using):
        _run(connection, _engine(connection).drops(connection))
        for trigger in all_triggers():
            if trigger.table in tables:
                _run(connection, _engine(connection).creates(trigger))


def missing(using: str = "default") -> list[str]:
    """One line per trigger that the catalogue lacks, has in another form, has switched off, or has and should not.

    Empty = all is well.
    """
    connection = connections[using]
    expected: dict[str, object] = {}
    for trigger in all_triggers():
        expected.update(_engine(connection).expected(trigger))
    found = _engine(connection).found(connection)
    lines = [f"{name}: missing" for name in expected.keys() - found.keys()]
    lines += [f"{name}: not in the list" for name in found.keys() - expected.keys()]
    lines += [f"{name}: changed" for name in expected.keys() & found.keys() if expected[name] != found[name]]
    return sorted(lines)


def before_migrate(sender: Any, using: str = "default", plan: Sequence[object] = (), **kwargs: Any) -> None:
    """SQLite only, and only when there is something to migrate: take all triggers down."""
    connection = connections[using]
    if plan and connection.vendor == "sqlite":
        _run(connection, sqlite.drops(connection))


def after_migrate(sender: Any, using: str = "default", **kwargs: Any) -> None:
    install(using)


def _engine(connection: BaseDatabaseWrapper) -> Any:
    return sqlite if connection.vendor == "sqlite" else postgres


def _run(connection: BaseDatabaseWrapper, statements: Sequence[str]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
