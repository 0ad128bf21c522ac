from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from foundation import clock, connections
from foundation.errors import BadInput, Conflict, NotFound, SpellbookError
from foundation.models import AuditDetail, AuditRow, Connection
from tests.foundation.cast import actor, at_once

pytestmark = pytest.mark.django_db


def save(name: str = "house", **changes: Any) -> Connection:
    wanted: dict[str, Any] = {
        "kind": "duckdb",
        "purpose": "read",
        "namespace": "duckdb://house",
        "params": {"path": "/data/house.duckdb", "threads": 2},
        "secret_names": ["SPELLBOOK_CONN_HOUSE"],
    }
    return connections.save(name, **{**wanted, **changes}, actor=actor())


def test_a_connection_is_added_found_and_audited() -> None:
    row = save()
    assert connections.get("house") == row == connections.find("duckdb", "read", "duckdb://house")
    assert connections.find("duckdb", "read") == row
    assert connections.find("duckdb", "run") is None
    assert connections.find("duckdb", "read", "duckdb://barn") is None
    assert (row.version, AuditRow.objects.get(action="connection.added").target_id) == (1, str(row.pk))
    with pytest.raises(NotFound):
        connections.get("barn")


def test_a_change_raises_the_version_and_voids_the_test() -> None:
    row = save()
    assert connections.note_test(row, ok=True)
    assert connections.get("house").tested_ok
    changed = save(params={"path": "/data/other.duckdb"})
    assert (changed.version, changed.tested_at, changed.tested_ok) == (2, None, None)
    assert not connections.note_test(row, ok=True)
    detail = AuditDetail.objects.get(audit__action="connection.changed").body
    assert detail["before"]["params"]["path"] == "/data/house.duckdb"
    assert detail["after"]["params"] == {"path": "/data/other.duckdb"}


def test_saving_the_same_again_changes_nothing() -> None:
    row = save()
    connections.note_test(row, ok=True)
    assert save().tested_ok
    assert Connection.objects.get().version == 1
    assert AuditRow.objects.filter(target_type="foundation.connection").count() == 1


@pytest.mark.parametrize(
    "params",
    [
        {"password": "x"},
        {"userPassword": "x"},
        {"api_key": "x"},
        {"APIKey": "x"},
        {"token": "x"},
        {"nested": {"client_secret": "x"}},
        {"list": [{"private_key": "x"}]},
        {"url": "postgresql://ada:s3cr3t@db.example.org/x"},
        {"options": "host=db password=s3cr3t"},
        {"options": ["-c", "token: s3cr3t"]},
        {"pwd": "s3cr3t"},
        {"keyfile": "s3cr3t"},
        {"ratio": 0.5},
    ],
)
def test_a_parameter_that_looks_like_a_secret_is_refused_and_not_repeated(params: dict[str, Any]) -> None:
    with pytest.raises(BadInput) as refusal:
        save(params=params)
    assert "s3cr3t" not in str(refusal.value)
    assert not Connection.objects.exists()


@pytest.mark.parametrize(
    "params", [{"host": "db.example.org", "user": "ada"}, {"url": "https://ada@example.org"}, {"author": "x"}]
)
def test_ordinary_parameters_are_kept(params: dict[str, Any]) -> None:
    assert save(params=params).params == params


@pytest.mark.parametrize(
    "secret_name",
    [
        "SPELLBOOK_SECRET_KEY",
        "SPELLBOOK_KEYS_DIR",
        "PATH/x",
        "../keys/secret.key",
        "/etc/passwd",
        ".hidden",
        "",
        "SPELLBOOK_CONN_",
    ],
)
def test_a_secret_outside_the_allowed_places_cannot_be_named(secret_name: str) -> None:
    with pytest.raises(BadInput):
        save(secret_names=[secret_name])


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "no spaces here"},
        {"name": ""},
        {"kind": "Duck DB"},
        {"purpose": "everything"},
        {"namespace": "x" * 301},
        {"namespace": "postgres://ada:s3cr3t@db"},
        {"secret_names": "SPELLBOOK_CONN_HOUSE"},
    ],
)
def test_bad_input_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        save(**changes)


def test_the_database_knows_the_purposes() -> None:
    save()
    with pytest.raises(IntegrityError), transaction.atomic():
        Connection.objects.update(purpose="anything")


def test_changes_at_once_are_each_a_version(committing: str) -> None:
    save()
    numbers = iter(range(4))
    refused: list[SpellbookError] = []

    def change() -> None:
        try:
            save(params={"path": f"/data/{next(numbers)}.duckdb"})
        except Conflict as error:
            refused.append(error)

    at_once(4, change)
    assert connections.get("house").version == 5 - len(refused)
    assert AuditRow.objects.filter(action="connection.changed").count() == 4 - len(refused)
    assert clock.now()


def test_additions_at_once_make_one_connection(committing: str) -> None:
    def add() -> None:
        try:
            save()
        except Conflict:
            return

    at_once(4, add)
    assert Connection.objects.get().version == 1
