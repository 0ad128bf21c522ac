"""What a warehouse's own catalogue says of all its tables in one question: a real file, a real server."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from catalog.warehouses import duckdb_inventory
from catalog.warehouses.base import ColumnInfo, Relation, TableFacts, TimedOut
from catalog.warehouses.duckdb import DuckDBWarehouse
from catalog.warehouses.duckdb_source import Source
from catalog.warehouses.postgres import PostgresWarehouse
from tests.catalog.servers import postgres, run, write

DUCKDB = (
    "create schema sales",
    "create table sales.orders as select i as id, (i / 4)::decimal(10, 2) as price from range(100000) r(i)",
    "alter table sales.orders alter id set not null",
    "comment on table sales.orders is 'All orders'",
    "comment on column sales.orders.id is 'The key'",
    'create table "odd ""name; drop table x" ("a b" integer)',
    "create view sales.cheap as select id from sales.orders where price < 1",
    "comment on view sales.cheap is 'Cheap ones'",
    "create table away (id integer)",
    "create view broken as select id from away",
    "drop table away",
    "create temp table passing (id integer)",
)
POSTGRES = (
    "create schema sales",
    "create type sales.mood as enum ('fine')",
    "create table sales.orders (id bigint primary key, gone text, price numeric(10, 2), mood sales.mood)",
    "insert into sales.orders select i, 'x', i / 4.0 from generate_series(1, 5000) i",
    "alter table sales.orders drop column gone",
    "comment on table sales.orders is 'All orders'",
    "comment on column sales.orders.id is 'The key'",
    "analyze sales.orders",
    "create table sales.unmeasured (id int)",
    "create table sales.bare ()",
    'create table sales."Odd.Na""me" ("A b" int)',
    "create table sales.parts (day int, x int) partition by range (day)",
    "create table sales.parts_1 partition of sales.parts for values from (0) to (10)",
    "insert into sales.parts select 1, i from generate_series(1, 1000) i",
    "analyze sales.parts_1",
    "create schema marts",
    "set search_path = sales",
    "create view marts.cheap as select o.id from orders o where price < 1",
    "create materialized view marts.kept as select * from marts.cheap",
)


@pytest.fixture(scope="module")
def uri() -> Iterator[str]:
    with postgres() as address:
        run(address, *POSTGRES)
        yield address


def by_name(facts: list[TableFacts]) -> dict[str, TableFacts]:
    return {one.relation.name: one for one in facts}


def test_duckdb_tells_columns_comments_rows_and_bytes_of_every_table_and_view(tmp_path: Path) -> None:
    write(tmp_path / "shop.duckdb", *DUCKDB)
    facts = DuckDBWarehouse(Source(tmp_path / "shop.duckdb", tmp_path / "cache")).inventory()
    found = by_name(facts)
    assert set(found) == {"orders", 'odd "name; drop table x', "cheap", "broken"}
    orders = found["orders"]
    assert (orders.relation, orders.kind) == (Relation("shop", "sales", "orders"), "table")
    assert orders.columns == (
        ColumnInfo("id", "BIGINT", False, 1, "The key"), ColumnInfo("price", "DECIMAL(10,2)", True, 2, ""),
    )  # fmt: skip
    assert (orders.comment, orders.rows, orders.definition) == ("All orders", 100_000, "")
    assert orders.bytes
    assert 2**18 <= orders.bytes <= 2**22
    cheap = found["cheap"]
    assert (cheap.kind, cheap.comment, cheap.rows, cheap.bytes) == ("view", "Cheap ones", None, None)
    assert "sales.orders" in cheap.definition
    assert [column.name for column in found["broken"].columns] == ["id"]
    assert found['odd "name; drop table x'].columns[0].name == "a b"


def test_duckdb_says_not_known_for_sizes_that_it_had_no_time_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "shop.duckdb", *DUCKDB)
    monkeypatch.setattr(duckdb_inventory, "SIZING", -1.0)
    facts = DuckDBWarehouse(Source(tmp_path / "shop.duckdb", tmp_path / "cache")).inventory()
    assert {one.bytes for one in facts} == {None}
    assert by_name(facts)["orders"].rows == 100_000


def test_an_empty_duckdb_file_has_no_tables(tmp_path: Path) -> None:
    write(tmp_path / "shop.duckdb")
    assert DuckDBWarehouse(Source(tmp_path / "shop.duckdb", tmp_path / "cache")).inventory() == []


def test_postgres_tells_columns_comments_rows_and_bytes_of_every_table_and_view(uri: str) -> None:
    found = by_name(PostgresWarehouse.open({"uri": uri}, []).inventory())
    assert set(found) == {"orders", "unmeasured", "bare", 'Odd.Na"me', "parts", "cheap", "kept"}
    orders = found["orders"]
    assert orders.columns == (
        ColumnInfo("id", "bigint", False, 1, "The key"), ColumnInfo("price", "numeric(10,2)", True, 3, ""),
        ColumnInfo("mood", "sales.mood", True, 4, ""),
    )  # fmt: skip
    assert (orders.relation, orders.kind) == (Relation("postgres", "sales", "orders"), "table")
    assert (orders.comment, orders.rows) == ("All orders", 5000)
    assert orders.bytes
    assert found["unmeasured"].rows is None
    assert found["bare"].columns == ()
    assert (found["cheap"].kind, found["kept"].kind) == ("view", "view")
    assert "sales.orders" in found["cheap"].definition
    assert "marts.cheap" in found["kept"].definition
    assert found["cheap"].bytes is None


def test_partitions_count_into_their_table(uri: str) -> None:
    parts = by_name(PostgresWarehouse.open({"uri": uri}, []).inventory())["parts"]
    assert parts.rows == 1000
    assert parts.bytes


def test_a_table_that_a_build_has_locked_is_not_waited_for(uri: str) -> None:
    with psycopg.connect(uri) as build:
        build.execute("lock table sales.unmeasured, sales.parts_1 in access exclusive mode")
        found = by_name(PostgresWarehouse.open({"uri": uri}, []).inventory())
    assert (found["unmeasured"].bytes, found["parts"].bytes) == (None, None)
    assert found["parts"].rows == 1000


def test_views_over_a_locked_table_end_the_look_soon_and_in_words(uri: str) -> None:
    with psycopg.connect(uri) as build:
        build.execute("lock table sales.orders in access exclusive mode")
        with pytest.raises(TimedOut, match="somebody else has locked"):
            PostgresWarehouse.open({"uri": uri}, []).inventory()


def test_a_look_at_postgres_can_write_nothing(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    warehouse = PostgresWarehouse.open({"uri": uri}, [])
    with pytest.raises(Exception, match="read-only"):
        warehouse._ask("create table sales.mine (id int)", [], label="x", limit=timedelta(seconds=5))
