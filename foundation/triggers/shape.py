"""What a trigger is, and builders for the usual ones. A refused statement is an IntegrityError on both engines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Event = Literal["INSERT", "UPDATE", "DELETE"]
PREFIX = "sb_"  # every trigger and function of ours begins so; whatever else begins so is a stranger
_NAME_LIMIT = 44  # PostgreSQL cuts names at 63 bytes, and prefix and suffixes come on top


@dataclass(frozen=True)
class Trigger:
    """A row trigger on `table` for each of `events`, in the two dialects.

    `sqlite` is the statements between BEGIN and END, run when `sqlite_when` holds; `postgres` is PL/pgSQL statements,
    conditions included, that run before the closing RETURN. `truncate` names the message with which PostgreSQL
    refuses TRUNCATE (SQLite has none).
    """

    name: str
    table: str
    events: tuple[Event, ...]
    sqlite: str
    postgres: str
    sqlite_when: str = ""
    timing: Literal["BEFORE", "AFTER"] = "BEFORE"
    truncate: str = ""

    def __post_init__(self) -> None:
        if len(self.name) > _NAME_LIMIT or not self.name.replace("_", "").isalnum():
            raise ValueError(
                f"A trigger's name is at most {_NAME_LIMIT} letters, digits and underscores: {self.name!r}."
            )


def append_only(table: str, *, may_delete: bool = False) -> Trigger:
    """Rows are added and never changed; nor deleted, unless `may_delete`."""
    events: tuple[Event, ...] = ("UPDATE",) if may_delete else ("UPDATE", "DELETE")
    words = "is never changed" if may_delete else "is append-only"
    return _refusing(f"{table}_append", table, events, "", f"{table} {words}", truncate=not may_delete)


def append_only_columns(table: str, *columns: str) -> Trigger:
    """An UPDATE that would change one of `columns` (database names) is refused."""
    when = " OR ".join(f'OLD."{column}" IS DISTINCT FROM NEW."{column}"' for column in columns)
    return _refusing(
        f"{table}_fixed", table, ("UPDATE",), when, f"these columns of {table} never change: {', '.join(columns)}"
    )


def no_delete(table: str) -> Trigger:
    """Rows are never deleted."""
    return _refusing(f"{table}_stay", table, ("DELETE",), "", f"rows of {table} are never deleted", truncate=True)


def guard(
    table: str,
    name: str,
    when: str,
    message: str,
    *,
    events: tuple[Event, ...] = ("UPDATE",),
    sqlite_when: str | None = None,
) -> Trigger:
    """Refuse with `message` each statement of `events` for which `when` (SQL over OLD and NEW) holds.

    `IS DISTINCT FROM` is translated for SQLite; where more differs, `sqlite_when` gives SQLite's own condition.
    """
    return _refusing(f"{table}_{name}", table, events, when, message, sqlite_when=sqlite_when)


def _refusing(
    name: str,
    table: str,
    events: tuple[Event, ...],
    when: str,
    message: str,
    *,
    sqlite_when: str | None = None,
    truncate: bool = False,
) -> Trigger:
    refusal = raising(message)
    return Trigger(
        name=name,
        table=table,
        events=events,
        sqlite=f"SELECT RAISE(ABORT, {quoted(message)});",
        sqlite_when=(when if sqlite_when is None else sqlite_when).replace("IS DISTINCT FROM", "IS NOT"),
        postgres=f"IF {when} THEN {refusal} END IF;" if when else refusal,
        truncate=message if truncate else "",
    )


def raising(message: str) -> str:
    """The PL/pgSQL statement that refuses with `message`."""
    return f"RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = {quoted(message)};"


def quoted(text: str) -> str:
    """An SQL text literal."""
    return "'" + text.replace("'", "''") + "'"
