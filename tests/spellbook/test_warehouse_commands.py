"""The commands introspect and namespace as a shell sees them."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog.models import Asset, Introspection
from foundation.models import AuditRow
from foundation.people import create_person
from spellbook import tasks
from tests.catalog.graphs import asset, claim
from tests.catalog.servers import write
from tests.spellbook.commands import manage

pytestmark = pytest.mark.django_db


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    path = tmp_path / "dev.duckdb"
    write(path, "create table orders (id int)", "create view v as select id from main.orders, range(3)")
    added = manage("connection", "add", "wh", "--kind", "duckdb", "--purpose", "read", "--param", f"path={path}")
    assert added.code == 0, added.err
    return path


def test_a_look_at_a_warehouse_tells_what_it_found(warehouse: Path) -> None:
    ran = manage("introspect", "wh", "--format", "json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json == {
        "connection": "wh", "namespace": "duckdb://wh", "graph_version": 1, "tables": 2, "columns": 2, "edges": 1,
        "added": 2, "changed": 0, "removed": 0, "warnings": [],
    }  # fmt: skip
    again = manage("introspect", "wh")
    assert "graph_version: 1" in again.out
    assert "added: 0" in again.out


def test_a_look_that_is_refused_ends_with_one_line(warehouse: Path) -> None:
    manage("introspect", "wh")
    warehouse.unlink()
    ran = manage("introspect", "wh")
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert "does not exist" in ran.err
    write(warehouse)
    assert "shows no table at all" in manage("introspect", "wh").err
    assert manage("introspect", "wh", "--emptied", "--format", "json").json["removed"] == 2
    assert manage("introspect").code == 2


def test_the_sweep_looks_at_a_warehouse_by_itself(warehouse: Path) -> None:
    assert tasks.look_at_warehouses() == 1
    assert tasks.look_at_warehouses() == 0
    assert Introspection.objects.get().tables == 2
    told = AuditRow.objects.get(action="graph.introspected")
    assert told.principal.kind == "system"


def test_namespaces_are_aliased_listed_shown_and_withdrawn() -> None:
    create_person("owner@example.com", "Olive Owner")
    claim("openlineage", [asset("a.b.c", "postgres://10.0.0.5:5432"), asset("a.b.d", "postgres://10.0.0.5:5432")])
    claim("dbt:shop", [asset("a.b.c", "postgres://warehouse")])
    ran = manage(
        "namespace", "alias", "postgresql://10.0.0.5", "postgres://warehouse", "--as", "owner@example.com",
        "--format", "json",
    )  # fmt: skip
    assert (ran.code, ran.err) == (0, "")
    assert ran.json == {
        "alias": "postgres://10.0.0.5", "namespace": "postgres://warehouse", "graph_version": 3, "renamed": 1,
        "united": 1, "left": [],
    }  # fmt: skip
    assert manage("namespace", "list").out.strip() == (
        "postgres://warehouse  2 assets  no connection reads it  also postgres://10.0.0.5"
    )
    shown = manage("namespace", "show", "postgres://10.0.0.5:5432", "A.B.C", "--format", "json")
    assert shown.json == {"namespace": "postgres://warehouse", "name": "a.b.c"}
    assert manage("namespace", "show", "postgres://10.0.0.5").out.strip() == "namespace: postgres://warehouse"
    assert manage("namespace", "withdraw", "postgres://10.0.0.5").code == 0
    ran = manage("namespace", "withdraw", "postgres://10.0.0.5")
    assert (ran.code, ran.err.strip()) == (1, "postgres://10.0.0.5 is no alias.")
    assert Asset.objects.filter(namespace="postgres://warehouse").count() == 2


def test_what_cannot_be_used_is_refused_in_one_line() -> None:
    ran = manage("namespace", "alias", "a\0b", "c")
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "cannot be printed" in ran.err
    assert "already means" in manage("namespace", "alias", "a", "a").err
    assert manage("namespace").code == 2
