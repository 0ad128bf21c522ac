"""The doctor says what works, what does not and what to do, and never falls over what it finds."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from pytest_django import Settings

from approvals.models import Receipt
from examples.mixpanel_night.night import repo
from foundation import connections, triggers
from foundation.clock import now
from foundation.errors import Unavailable
from spellbook import doctor
from spellbook.celery import app
from tests.engines import chosen, open_at, put_back
from tests.spellbook.commands import manage
from tests.spellbook.machines import command_line

pytestmark = pytest.mark.django_db


def found(name: str) -> doctor.ProbeResult:
    return next(one for one in doctor.examine() if one.name == name)


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    path = tmp_path / "warehouse.duckdb"
    duckdb.connect(str(path)).close()
    connections.save(
        "wh", kind="duckdb", purpose="read", namespace="duckdb://wh", params={"path": str(path)}, secret_names=[],
        actor=command_line(),
    )  # fmt: skip
    return path


def test_what_works_is_said_with_exit_zero(warehouse: Path) -> None:
    ran = manage("doctor")
    assert (ran.code, ran.err) == (0, "")
    for line in ("database: works", "triggers: works", "broker: works", "connection wh: works", "ledger: works"):
        assert line in ran.out
    told = manage("doctor", "--format", "json").json["found"]
    assert {"name", "state", "said", "todo"} == set(told[0])


def test_connections_to_code_are_asked_for_their_branch_or_repository(tmp_path: Path) -> None:
    repo.create_repository(tmp_path / "code")
    host = {"repository": "acme/models", "api": "https://127.0.0.1:9"}
    for name, kind, params, secrets in (
        ("code", "git", {"path": str(tmp_path / "code"), "branch": "main"}, []),
        ("gone", "git", {"path": str(tmp_path / "code"), "branch": "gone"}, []),
        ("host", "github", host, ["SPELLBOOK_CONN_TOKEN", "SPELLBOOK_CONN_HOOK"]),
    ):
        connections.save(
            name, kind=kind, purpose="code", namespace="", params=params, secret_names=secrets, actor=command_line()
        )
    assert found("connection code").said == f"main is at {repo.head(tmp_path / 'code')[:12]}"
    assert found("connection gone").said == "the repository code has no branch gone"
    assert found("connection host").state == "does not work"


def test_what_does_not_work_is_named_with_exit_one(warehouse: Path) -> None:
    warehouse.unlink()
    ran = manage("doctor")
    assert ran.code == 1
    assert ran.err.strip() == "Not working: connection wh."
    assert "connection wh: does not work" in ran.out
    assert "database: works" in ran.out


def test_a_missing_trigger_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triggers, "missing", lambda _: ["approvals_vote_append_only"])
    one = found("triggers")
    assert (one.state, one.todo) == ("does not work", "run migrate again")
    assert "approvals_vote_append_only" in one.said


def test_without_a_dbt_it_says_how_to_get_one(settings: Settings, tmp_path: Path) -> None:
    settings.SPELLBOOK_DBT = str(tmp_path / "dbt")
    assert found("dbt").todo == "run make setup, or set SPELLBOOK_DBT"
    (tmp_path / "dbt").touch()
    assert found("dbt").state == "unknown"


def fake_environment(folder: Path, core: str, duck: str) -> str:
    """A folder that answers like an environment with these versions."""
    (folder / "dbt").touch()
    python = folder / "python"
    python.write_text(f"#!/bin/sh\necho {core}\necho {duck}\n")
    python.chmod(0o755)
    return str(folder / "dbt")


def test_two_versions_of_duckdb_are_told(settings: Settings, tmp_path: Path) -> None:
    settings.SPELLBOOK_DBT = fake_environment(tmp_path, "1.11.0", "0.9.9")
    assert found("dbt").said == "dbt-core 1.11.0"
    assert found("duckdb").state == "does not work"
    assert "0.9.9" in found("duckdb").said


def test_a_dbt_without_duckdb_is_no_trouble(settings: Settings, tmp_path: Path) -> None:
    settings.SPELLBOOK_DBT = fake_environment(tmp_path, "1.11.0", "none")
    assert [one.name for one in doctor.dbt()] == ["dbt"]


def test_a_receipt_that_waits_too_long_is_told(settings: Settings) -> None:
    Receipt.objects.create(
        type="plan", subject="plan/x", statement=b"{}", statement_sha256="0" * 64,
        created_at=now() - timedelta(seconds=settings.SPELLBOOK_READY_LIMIT + 60),
    )  # fmt: skip
    one = found("ledger")
    assert one.state == "does not work"
    assert "wake" in one.todo


def test_a_broker_that_is_away_is_told(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr(app, "connection_for_write", away)
    assert found("broker").state == "does not work"
    assert "SPELLBOOK_BROKER_URL" in found("broker").todo


@pytest.mark.parametrize("error", [Unavailable("It is away."), OSError("gone"), OperationalError("no such table: x")])
def test_a_probe_that_fails_does_not_keep_the_others(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> list[doctor.ProbeResult]:
        raise error

    monkeypatch.setattr(doctor, "PROBES", {"first": broken, "ledger": doctor.ledger})
    assert [(one.name, one.state) for one in doctor.examine()] == [("first", "does not work"), ("ledger", "works")]


@pytest.mark.skipif(chosen() != "sqlite", reason="an empty PostgreSQL needs a role that may make one")
def test_an_empty_database_is_told_and_nothing_else_breaks(tmp_path: Path) -> None:
    path = tmp_path / "empty.sqlite3"
    sqlite3.connect(path).close()
    previous = open_at(f"sqlite:///{path}")
    try:
        ran = manage("doctor")
    finally:
        put_back(previous)
    assert (ran.code, ran.err) == (1, "Not working: database.\n")
    assert ran.out.splitlines()[0] == (
        "database: does not work, sqlite: it holds no tables yet, so connections, namespaces and ledger were not "
        "examined; run python manage.py migrate, or make up, which does it"
    )
    assert "dbt: works" in ran.out
    assert "no such table" not in ran.out


def test_a_database_that_is_away_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> list[doctor.ProbeResult]:
        raise OperationalError("connection refused")

    monkeypatch.setattr(doctor, "PROBES", {**doctor.PROBES, "database": away})
    assert [one.name for one in doctor.examine() if "connection refused" in one.said] == ["database"]
    assert not {"ledger", "namespaces"} & {one.name for one in doctor.examine()}


def test_migrations_that_wait_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = [(object(), False)] * 2
    monkeypatch.setattr(MigrationExecutor, "migration_plan", lambda *_: waiting)
    one = found("database")
    assert one.said.endswith(": 2 migrations are not applied")
    assert "manage.py migrate" in one.todo


@pytest.mark.skipif(chosen() != "postgres", reason="SQLite has no roles")
def test_the_role_of_the_app_is_told() -> None:
    assert connection.vendor == "postgresql"
    assert found("database role").state == "works"
