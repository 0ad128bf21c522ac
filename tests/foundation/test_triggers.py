# ruff: noqa: S608 - the table's name is a constant of this module
from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command
from django.db import DatabaseError, IntegrityError, connection, transaction

from foundation import triggers
from foundation.triggers import Trigger, append_only, append_only_columns, guard, no_delete
from tests.engines import Engine, Postgres, chosen, open_at, put_back

TABLE = "trigger_test"


def execute(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@pytest.fixture
def as_owner(committing: str, database_engine: Engine) -> Iterator[None]:
    """The fresh database of `committing`, opened by the role that owns its tables."""
    if not isinstance(database_engine, Postgres):
        yield
        return
    name = urlsplit(committing).path.lstrip("/")
    previous = open_at(database_engine.url(name, database_engine.owner))
    yield
    put_back(previous)


def only(monkeypatch: pytest.MonkeyPatch, *wanted: Trigger) -> None:
    """A table of two columns with these triggers and no others in the list."""
    execute(f"CREATE TABLE {TABLE} (id integer PRIMARY KEY, state text)", f"INSERT INTO {TABLE} VALUES (1, 'open')")
    monkeypatch.setattr("foundation.triggers.catalogue.all_triggers", lambda: list(wanted))
    triggers.install()
    assert triggers.missing() == []


def refused(statement: str, words: str) -> None:
    with pytest.raises(IntegrityError, match=words), transaction.atomic():
        execute(statement)


def test_a_migrated_database_has_every_trigger_of_the_lists(committing: str) -> None:
    assert triggers.missing() == []


def test_names_are_unique_and_short() -> None:
    assert len(triggers.all_triggers()) >= len(triggers.TRIGGERS)
    with pytest.raises(ValueError, match="name"):
        append_only("x" * 60)


def test_one_that_was_dropped_is_missed_and_installed_again(as_owner: None) -> None:
    name = "sb_foundation_auditrow_append" + ("_update" if chosen() == "sqlite" else "")
    execute(f"DROP TRIGGER {name}" + ("" if chosen() == "sqlite" else " ON foundation_auditrow"))
    assert triggers.missing() == [f"{name}: missing"]
    triggers.install()
    assert triggers.missing() == []


@pytest.mark.skipif(chosen() != "sqlite", reason="SQLite's own syntax")
def test_a_weakened_trigger_is_noticed_on_sqlite(as_owner: None) -> None:
    name = "sb_foundation_auditrow_append_update"
    weak = f"CREATE TRIGGER {name} BEFORE UPDATE ON foundation_auditrow WHEN 0 BEGIN SELECT RAISE(ABORT, 'x'); END"
    execute(f"DROP TRIGGER {name}", weak)
    assert triggers.missing() == [f"{name}: changed"]


POSTGRES_WEAKENINGS = [
    "ALTER TABLE foundation_auditrow DISABLE TRIGGER {name}",
    "ALTER TABLE foundation_auditrow ENABLE REPLICA TRIGGER {name}",
    "CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    "ALTER FUNCTION {name}() RESET search_path",
    "CREATE OR REPLACE TRIGGER {name} BEFORE UPDATE ON foundation_auditrow FOR EACH ROW EXECUTE FUNCTION {name}()",
    "CREATE OR REPLACE TRIGGER {name} BEFORE UPDATE OR DELETE ON foundation_auditrow FOR EACH ROW WHEN (OLD.id < 0) "
    "EXECUTE FUNCTION {name}()",
    "CREATE OR REPLACE TRIGGER {name} BEFORE DELETE OR UPDATE OF refused ON foundation_auditrow FOR EACH ROW "
    "EXECUTE FUNCTION {name}()",
]


@pytest.mark.skipif(chosen() != "postgres", reason="PostgreSQL's own syntax")
@pytest.mark.parametrize("statement", POSTGRES_WEAKENINGS)
def test_a_weakened_trigger_is_noticed_on_postgresql(as_owner: None, statement: str) -> None:
    name = "sb_foundation_auditrow_append"
    execute(statement.format(name=name))
    assert triggers.missing() == [f"{name}: changed"]
    triggers.install()
    assert triggers.missing() == []


@pytest.mark.skipif(chosen() != "postgres", reason="SQLite has no TRUNCATE")
def test_even_the_owner_cannot_truncate(as_owner: None) -> None:
    refused("TRUNCATE foundation_auditrow CASCADE", "append-only")


@pytest.mark.skipif(chosen() != "postgres", reason="roles are PostgreSQL's")
@pytest.mark.django_db
def test_the_app_role_cannot_take_a_trigger_down() -> None:
    for statement in (
        "ALTER TABLE foundation_auditrow DISABLE TRIGGER ALL",
        "DROP TRIGGER sb_foundation_auditrow_append ON foundation_auditrow",
        "SET session_replication_role = replica",
    ):
        with pytest.raises(DatabaseError, match=r"must be owner|permission denied"), transaction.atomic():
            execute(statement)


def test_a_stranger_among_our_names_is_noticed_and_removed(as_owner: None, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, append_only(TABLE), no_delete(TABLE))
    monkeypatch.setattr("foundation.triggers.catalogue.all_triggers", lambda: [append_only(TABLE)])
    assert triggers.missing()
    assert all(line.endswith(": not in the list") for line in triggers.missing())
    triggers.install()
    assert triggers.missing() == []


def test_append_only_refuses_update_and_delete(as_owner: None, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, append_only(TABLE))
    refused(f"UPDATE {TABLE} SET id = id", "append-only")
    refused(f"DELETE FROM {TABLE}", "append-only")
    execute(f"INSERT INTO {TABLE} VALUES (2, 'open')")


def test_append_only_may_allow_erasure(as_owner: None, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, append_only(TABLE, may_delete=True))
    refused(f"UPDATE {TABLE} SET state = 'x'", "never changed")
    execute(f"DELETE FROM {TABLE}")


def test_fixed_columns_do_not_change_to_or_from_null_either(as_owner: None, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, append_only_columns(TABLE, "state"))
    refused(f"UPDATE {TABLE} SET state = NULL", "state")
    execute(f"UPDATE {TABLE} SET state = 'open', id = 7", f"INSERT INTO {TABLE} VALUES (8, NULL)")
    refused(f"UPDATE {TABLE} SET state = 'open' WHERE id = 8", "state")


def test_a_guard_refuses_what_its_condition_names(as_owner: None, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = guard(TABLE, "no_reopening", "OLD.state = 'closed' AND NEW.state <> 'closed'", "it's closed")
    born = guard(TABLE, "born_open", "NEW.state <> 'open'", "a row begins open", events=("INSERT",))
    only(monkeypatch, rule, born)
    execute(f"UPDATE {TABLE} SET state = 'closed'", f"DELETE FROM {TABLE} WHERE id = 99")
    refused(f"UPDATE {TABLE} SET state = 'open'", "it's closed")
    refused(f"INSERT INTO {TABLE} VALUES (2, 'closed')", "begins open")


def test_a_trigger_may_be_written_for_each_engine(as_owner: None, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = Trigger(
        name=f"{TABLE}_copies",
        table=TABLE,
        events=("UPDATE",),
        timing="AFTER",
        sqlite_when="NEW.id = 1",
        sqlite=f"INSERT INTO {TABLE} VALUES (NEW.id + 100, OLD.state);",
        postgres=f"IF NEW.id = 1 THEN INSERT INTO {TABLE} VALUES (NEW.id + 100, OLD.state); END IF;",
    )
    only(monkeypatch, raw)
    execute(f"UPDATE {TABLE} SET state = 'closed' WHERE id = 1")
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT id, state FROM {TABLE} ORDER BY id")
        assert [tuple(row) for row in cursor.fetchall()] == [(1, "closed"), (101, "open")]


@pytest.mark.skipif(chosen() != "postgres", reason="schemas are PostgreSQL's")
def test_a_temporary_table_does_not_stand_in_for_the_real_one(as_owner: None, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, guard(TABLE, "one", f"(SELECT count(*) FROM {TABLE}) > 0", "one row", events=("INSERT",)))
    execute(f"CREATE TEMPORARY TABLE {TABLE} (id integer)")
    refused(f"INSERT INTO public.{TABLE} VALUES (2, 'open')", "one row")


def test_migrating_again_makes_them_anew(as_owner: None, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr("foundation.triggers.catalogue.install", made.append)
    call_command("migrate", verbosity=0)
    assert made == ["default"]


def test_they_are_taken_down_on_sqlite_while_a_migration_rebuilds_tables(as_owner: None) -> None:
    triggers.before_migrate(None, "default", plan=["something"])
    assert bool(triggers.missing()) is (chosen() == "sqlite")
    triggers.after_migrate(None, "default")
    assert triggers.missing() == []
    triggers.before_migrate(None, "default", plan=[])
    assert triggers.missing() == []
