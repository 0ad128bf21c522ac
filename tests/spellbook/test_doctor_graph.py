"""What the doctor says of the warehouses' accounts, of the last looks at them, and of names of namespaces."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from catalog.models import Introspection, NamespaceAlias
from foundation import connections
from foundation.clock import now
from spellbook import doctor, doctor_graph
from tests.catalog.graphs import asset, claim
from tests.catalog.servers import postgres, run, write
from tests.spellbook.commands import manage
from tests.spellbook.machines import command_line

pytestmark = pytest.mark.django_db


def found(name: str) -> doctor.ProbeResult:
    seen = (*doctor_graph.rights(), *doctor_graph.introspections(), *doctor_graph.namespaces())
    return next(one for one in seen if one.name == name)


def connect(name: str, kind: str, namespace: str, **params: str) -> None:
    connections.save(
        name, kind=kind, purpose="read", namespace=namespace, params=params, secret_names=[], actor=command_line()
    )


@pytest.fixture(scope="module")
def uri() -> Iterator[str]:
    with postgres() as address:
        run(address, "create schema sales", "create table sales.orders (id int)", "create role reader login",
            "create role writer login", "grant usage on schema sales to reader, writer",
            "grant select on sales.orders to reader", "grant insert on sales.orders to writer",
            "grant create on schema sales to writer")  # fmt: skip
        yield address


def test_what_the_account_of_a_warehouse_may_do_besides_reading_is_told(uri: str) -> None:
    for role in ("reader", "writer", "postgres"):
        connect(role, "postgres", f"postgres://{role}", uri=uri.replace("postgres:@", f"{role}@"))
    assert (found("rights of reader").state, found("rights of reader").said) == ("works", "its account only reads")
    writer = found("rights of writer")
    assert (writer.state, writer.todo) == ("does not work", "give it SELECT alone")
    assert "it may write 1 tables and create tables in 1 schemas" in writer.said
    assert "superuser" in found("rights of postgres").said


def test_an_account_that_cannot_be_asked_is_unknown(uri: str) -> None:
    connect("away", "postgres", "postgres://away", uri=uri.replace("postgres:@", "nobody@"))
    assert found("rights of away").state == "unknown"


def test_when_a_warehouse_was_looked_at_and_what_went_wrong_is_told(tmp_path: Path) -> None:
    write(tmp_path / "wh.duckdb", "create table t (id int)")
    connect("wh", "duckdb", "duckdb://wh", path=str(tmp_path / "wh.duckdb"))
    assert not [one for one in doctor.examine() if one.name == "tables of wh"]
    assert manage("introspect", "wh").code == 0
    assert found("tables of wh").state == "works"
    assert found("tables of wh").said.startswith("1 tables seen 20")
    Introspection.objects.update(seen_at=now() - timedelta(days=1))
    assert "long ago" in found("tables of wh").said
    (tmp_path / "wh.duckdb").unlink()
    assert manage("introspect", "wh").code == 1
    told = found("tables of wh")
    assert (told.state, told.todo) == ("does not work", "run python manage.py introspect wh when it is mended")
    assert "does not exist" in told.said


def test_names_that_may_mean_the_same_server_are_told() -> None:
    claim("dbt:shop", [asset("a.b.c", "postgres://db"), asset("a.b.c", "postgresql://db:5432")])
    one = next(one for one in doctor.examine() if "look like one server" in one.said)
    assert one.state == "unknown"
    assert "namespace alias" in one.todo


def test_an_alias_with_assets_of_its_own_and_a_namespace_of_two_connections_are_told(tmp_path: Path) -> None:
    claim("dbt:shop", [asset("a.b.c", "postgres://old")])
    NamespaceAlias.objects.create(alias="postgres://old", namespace="postgres://new")
    for name in ("one", "two"):
        connect(name, "duckdb", "duckdb://wh", path=str(tmp_path / f"{name}.duckdb"))
    assert found("namespace postgres://old").state == "does not work"
    assert "one, two declare it" in found("namespace duckdb://wh").said
    assert found("namespaces").said == "2 known, 1 aliases"
