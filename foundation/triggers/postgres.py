"""Triggers on PostgreSQL: a function per trigger, its text kept by pg_proc, and the trigger's own bits by pg_trigger.

Conditions stand in the function, never in a WHEN clause, because only the function's text comes back as it was given
(https://www.postgresql.org/docs/current/catalog-pg-trigger.html and catalog-pg-proc.html).
"""

from __future__ import annotations

from django.db.backends.base.base import BaseDatabaseWrapper

from foundation.triggers.shape import PREFIX, Trigger, raising

# pg_trigger.tgtype: the bits TRIGGER_TYPE_* of PostgreSQL's catalog/pg_trigger.h
_ROW, _BEFORE = 1, 2
_EVENTS = {"INSERT": 4, "DELETE": 8, "UPDATE": 16, "TRUNCATE": 32}

# A temporary table must not stand in for a real one inside a guard: pg_temp is last on the path that functions keep.
_SET_PATH = "SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)"

_FOUND = """
SELECT t.tgname, c.relname, t.tgtype::int, p.proname, p.prosrc,
       t.tgenabled::text = 'O' AND t.tgqual IS NULL AND t.tgattr::text = '' AND t.tgnargs = 0 AND NOT t.tgdeferrable
       AND l.lanname = 'plpgsql' AND p.proconfig = ARRAY['search_path=' || quote_ident(current_schema()) || ', pg_temp']
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_language l ON l.oid = p.prolang
WHERE NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace AND starts_with(t.tgname::text, %s)
"""
_FUNCTIONS = """
SELECT proname FROM pg_proc
WHERE pronamespace = current_schema()::regnamespace AND prorettype = 'trigger'::regtype
AND starts_with(proname::text, %s)
"""


def expected(trigger: Trigger) -> dict[str, object]:
    """Name in the catalogue -> (table, type bits, function, its text, everything else as it should be)."""
    parts = {_row_name(trigger): (trigger.table, _row_bits(trigger), _row_name(trigger), _row_body(trigger), True)}
    if trigger.truncate:
        name, bits = _truncate_name(trigger), _BEFORE | _EVENTS["TRUNCATE"]
        parts[name] = (trigger.table, bits, name, _truncate_body(trigger), True)
    return dict(parts)


def creates(trigger: Trigger) -> list[str]:
    events = " OR ".join(trigger.events)
    made = _create(_row_name(trigger), _row_body(trigger), f"{trigger.timing} {events}", trigger.table, "ROW")
    if trigger.truncate:
        made += _create(_truncate_name(trigger), _truncate_body(trigger), "BEFORE TRUNCATE", trigger.table, "STATEMENT")
    return made


def drops(connection: BaseDatabaseWrapper) -> list[str]:
    """Take everything of ours down and prepare the search path for what is created next in the same transaction."""
    with connection.cursor() as cursor:
        cursor.execute(_FUNCTIONS, [PREFIX])
        functions = [name for (name,) in cursor.fetchall()]
    triggers = [f'DROP TRIGGER "{name}" ON "{table}"' for name, table in _tables(connection).items()]
    return [*triggers, *[f'DROP FUNCTION "{name}"() CASCADE' for name in functions], _SET_PATH]


def found(connection: BaseDatabaseWrapper) -> dict[str, object]:
    return {row[0]: tuple(row[1:]) for row in _rows(connection)}


def _tables(connection: BaseDatabaseWrapper) -> dict[str, str]:
    return {row[0]: row[1] for row in _rows(connection)}


def _rows(connection: BaseDatabaseWrapper) -> list[tuple[str, str, int, str, str, bool]]:
    with connection.cursor() as cursor:
        cursor.execute(_FOUND, [PREFIX])
        return list(cursor.fetchall())


def _create(name: str, body: str, when: str, table: str, level: str) -> list[str]:
    return [
        f'CREATE FUNCTION "{name}"() RETURNS trigger LANGUAGE plpgsql '
        f"SET search_path FROM CURRENT AS $guard${body}$guard$",
        f'CREATE TRIGGER "{name}" {when} ON "{table}" FOR EACH {level} EXECUTE FUNCTION "{name}"()',
    ]


def _row_bits(trigger: Trigger) -> int:
    timing = _BEFORE if trigger.timing == "BEFORE" else 0
    return _ROW | timing | sum(_EVENTS[event] for event in set(trigger.events))


def _row_body(trigger: Trigger) -> str:
    return f"BEGIN {trigger.postgres} IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END"


def _truncate_body(trigger: Trigger) -> str:
    return f"BEGIN {raising(trigger.truncate)} END"


def _row_name(trigger: Trigger) -> str:
    return f"{PREFIX}{trigger.name}"


def _truncate_name(trigger: Trigger) -> str:
    return f"{PREFIX}{trigger.name}_truncate"
