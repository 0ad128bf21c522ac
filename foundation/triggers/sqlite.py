"""Triggers on SQLite: one per event.

The catalogue keeps their text as it was given (https://www.sqlite.org/schematab.html).
"""

from __future__ import annotations

from django.db.backends.base.base import BaseDatabaseWrapper

from foundation.triggers.shape import PREFIX, Trigger


def expected(trigger: Trigger) -> dict[str, object]:
    """Name in the catalogue -> (table, text)."""
    return {
        _name(trigger, event): (trigger.table, statement)
        for event, statement in zip(trigger.events, creates(trigger), strict=True)
    }


def creates(trigger: Trigger) -> list[str]:
    when = f" WHEN {trigger.sqlite_when}" if trigger.sqlite_when else ""
    return [
        f'CREATE TRIGGER "{_name(trigger, event)}" {trigger.timing} {event} ON "{trigger.table}" '
        f"FOR EACH ROW{when} BEGIN {trigger.sqlite} END"
        for event in trigger.events
    ]


def drops(connection: BaseDatabaseWrapper) -> list[str]:
    return [f'DROP TRIGGER "{name}"' for name in found(connection)]


def found(connection: BaseDatabaseWrapper) -> dict[str, object]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger'")
        return {name: (table, text) for name, table, text in cursor.fetchall() if name.startswith(PREFIX)}


def _name(trigger: Trigger, event: str) -> str:
    return f"{PREFIX}{trigger.name}_{event.lower()}"
