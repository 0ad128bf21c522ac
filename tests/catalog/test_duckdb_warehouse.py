"""DuckDB files read through copies: real files, real writers in other processes."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import duckdb
import pytest

from catalog.warehouses.base import ColumnInfo, Missing, QueryFailed, Relation, TableInfo, TableMissing, TimedOut
from catalog.warehouses.duckdb import DuckDBWarehouse, _config
from catalog.warehouses.duckdb_copies import copy_of
from catalog.warehouses.duckdb_source import Source
from catalog.warehouses.refs import dataset_name
from catalog.warehouses.registry import open_warehouse
from foundation.errors import BadInput, Unavailable

SECOND = timedelta(seconds=1)
ORDERS = Relation("shop", "sales", "orders")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "shop.duckdb"
    write(
        path,
        "create schema sales",
        "create table sales.orders as select i as id, (i / 4)::decimal(10, 2) as price from range(1000) r(i)",
        'create table sales."odd ""name; drop table x" as select 1 as "a b"',
        "create view sales.cheap as select * from sales.orders where price < 1",
        "create table sales.empty (id integer not null)",
    )
    return path


@pytest.fixture
def warehouse(file: Path, tmp_path: Path) -> DuckDBWarehouse:
    return DuckDBWarehouse(Source(file, tmp_path / "cache"), lock_wait=timedelta(seconds=0.2))


def write(path: Path, *statements: str) -> None:
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)


def child(code: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@contextmanager
def writer(path: Path, statement: str = "select 1") -> Iterator[subprocess.Popen[str]]:
    """A process that has run a statement and holds the file until its input is closed."""
    code = (
        "import sys, duckdb\nc = duckdb.connect(sys.argv[1])\nc.execute(sys.argv[2])\n"
        "print('held', flush=True)\nsys.stdin.read()\n"
    )
    with child(code, str(path), statement) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def copies(tmp_path: Path) -> list[Path]:
    return sorted(tmp_path.glob("cache/*/copy-*"))


def unfinished(tmp_path: Path) -> list[Path]:
    return sorted(tmp_path.glob("cache/*/new-*"))


def select(warehouse: DuckDBWarehouse, sql: str, *, row_limit: int = 100, timeout: timedelta = 30 * SECOND) -> Any:
    return warehouse.select(sql, label="test", timeout=timeout, row_limit=row_limit)


def test_rows_are_counted_and_a_missing_table_is_neither_zero_nor_an_error(warehouse: DuckDBWarehouse) -> None:
    assert warehouse.row_count(ORDERS) == 1000
    assert warehouse.row_count(Relation(None, "sales", "empty")) == 0
    assert warehouse.row_count(Relation(None, "sales", 'odd "name; drop table x')) == 1
    for gone in (Relation(None, "sales", "gone"), Relation(None, "nowhere", "t"), Relation("other", "sales", "orders")):
        missing = warehouse.row_count(gone)
        assert missing == Missing(gone)
        assert not missing
        assert str(missing) == f"the table {gone} is missing"


def test_tables_and_columns_are_listed(warehouse: DuckDBWarehouse) -> None:
    warehouse.test()
    assert TableInfo(ORDERS, "table") in warehouse.tables()
    assert TableInfo(Relation("shop", "sales", "cheap"), "view") in warehouse.tables()
    assert len(warehouse.tables()) == 4
    assert warehouse.describe(ORDERS) == [
        ColumnInfo("id", "BIGINT", True, 1),
        ColumnInfo("price", "DECIMAL(10,2)", True, 2),
    ]
    assert warehouse.describe(Relation(None, "sales", "empty")) == [ColumnInfo("id", "INTEGER", False, 1)]
    assert warehouse.describe(Relation(None, "sales", "gone")) is None


def test_values_become_json_and_a_result_that_is_cut_says_so(warehouse: DuckDBWarehouse) -> None:
    before = datetime.now(UTC)
    rows = select(
        warehouse,
        "select 1 as i, 12.50::decimal(9, 2) as d, 0.1::double as f, 'nan'::double as n, date '2024-02-29' as day,"
        " timestamp '2024-02-29 01:02:03.5' as t, timestamptz '2024-02-29 01:02:03+00' as z, null as nothing,"
        " true as yes, 170141183460469231731687303715884105727::hugeint as big, 'a' as s",
    )
    assert rows.columns == ("i", "d", "f", "n", "day", "t", "z", "nothing", "yes", "big", "s")
    assert rows.rows[0][:6] == (1, "12.50", "0.1", "NaN", "2024-02-29", "2024-02-29T01:02:03.500000")
    assert datetime.fromisoformat(rows.rows[0][6]) == datetime(2024, 2, 29, 1, 2, 3, tzinfo=UTC)
    assert rows.rows[0][7:] == (None, True, 2**127 - 1, "a")
    assert before <= rows.measured_at <= datetime.now(UTC)
    assert rows.took_ms >= 0
    assert not rows.truncated

    cut = select(warehouse, "select id from sales.orders order by id", row_limit=3)
    assert cut.rows == ((0,), (1,), (2,))
    assert cut.truncated
    with pytest.raises(BadInput, match="instead of one value"):
        cut.scalar()


def test_no_process_holds_the_file_after_a_query(warehouse: DuckDBWarehouse, file: Path) -> None:
    warehouse.row_count(ORDERS)
    with writer(file):
        pass  # it could open the file for writing


def test_a_file_that_stays_locked_is_not_evaluated(warehouse: DuckDBWarehouse, file: Path, tmp_path: Path) -> None:
    with writer(file), pytest.raises(Unavailable) as refused:
        warehouse.row_count(ORDERS)
    assert str(refused.value) == "not evaluated: the DuckDB file shop.duckdb is locked by another process"
    assert not copies(tmp_path)
    assert not unfinished(tmp_path)


def test_a_file_that_is_let_go_in_time_is_read(file: Path, tmp_path: Path) -> None:
    patient = DuckDBWarehouse(Source(file, tmp_path / "cache"), lock_wait=30 * SECOND)
    with writer(file, "delete from sales.orders where id >= 10") as process:
        answers: list[int | Missing] = []
        reader = Thread(target=lambda: answers.append(patient.row_count(ORDERS)))
        reader.start()
        assert process.stdin is not None
        process.stdin.close()  # the writer ends in its own time, while the reader tries
        reader.join()
    assert answers == [10]


def test_a_locked_file_that_has_not_changed_is_answered_from_its_copy(warehouse: DuckDBWarehouse, file: Path) -> None:
    assert warehouse.row_count(ORDERS) == 1000
    with writer(file):
        assert warehouse.row_count(ORDERS) == 1000


def test_a_commit_of_a_process_that_still_holds_the_file_is_never_overlooked(
    warehouse: DuckDBWarehouse, file: Path
) -> None:
    assert warehouse.row_count(ORDERS) == 1000
    with writer(file, "insert into sales.orders values (1000, 1)"), pytest.raises(Unavailable, match="locked"):
        warehouse.row_count(ORDERS)


def test_commits_that_are_only_in_the_log_of_a_killed_writer_are_read(warehouse: DuckDBWarehouse, file: Path) -> None:
    with writer(file, "insert into sales.orders values (1000, 1)"):
        pass
    assert file.with_name("shop.duckdb.wal").exists()
    assert warehouse.row_count(ORDERS) == 1001
    assert file.with_name("shop.duckdb.wal").exists()


def test_the_copy_is_shared_while_the_file_is_unchanged_and_replaced_when_it_changes(
    warehouse: DuckDBWarehouse, file: Path, tmp_path: Path
) -> None:
    warehouse.row_count(ORDERS)
    first = copies(tmp_path)
    warehouse.row_count(ORDERS)
    assert copies(tmp_path) == first
    assert len(first) == 1
    assert first[0].parent.stat().st_mode & 0o077 == 0

    write(file, "delete from sales.orders where id < 100")
    assert warehouse.row_count(ORDERS) == 900
    assert len(copies(tmp_path)) == 1
    assert copies(tmp_path) != first


def test_a_copy_in_use_stays_until_its_last_reader_has_gone(
    warehouse: DuckDBWarehouse, file: Path, tmp_path: Path
) -> None:
    with copy_of(warehouse.source, wait=SECOND) as old, copy_of(warehouse.source, wait=SECOND) as same:
        assert old == same
        write(file, "delete from sales.orders")
        assert warehouse.row_count(ORDERS) == 0
        assert old.exists()
        assert len(copies(tmp_path)) == 2
    assert not old.exists()
    assert len(copies(tmp_path)) == 1


def test_processes_and_threads_that_ask_at_once_make_one_copy(
    warehouse: DuckDBWarehouse, file: Path, tmp_path: Path
) -> None:
    code = (
        "import sys\nfrom datetime import timedelta\nfrom pathlib import Path\n"
        "from catalog.warehouses.base import Relation\nfrom catalog.warehouses.duckdb import DuckDBWarehouse\n"
        "from catalog.warehouses.duckdb_source import Source\n"
        "w = DuckDBWarehouse(Source(Path(sys.argv[1]), Path(sys.argv[2])), lock_wait=timedelta(seconds=30))\n"
        "print(w.row_count(Relation('shop', 'sales', 'orders')))\n"
    )
    patient = DuckDBWarehouse(warehouse.source, lock_wait=30 * SECOND)
    processes = [child(code, str(file), str(tmp_path / "cache")) for _ in range(3)]
    answers: list[int | Missing] = []
    threads = [Thread(target=lambda: answers.append(patient.row_count(ORDERS))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [1000] * 4
    assert [process.communicate()[0].strip() for process in processes] == ["1000"] * 3
    assert len(copies(tmp_path)) == 1
    assert not unfinished(tmp_path)


def test_what_a_killed_process_left_is_cleared_by_the_next_copy(warehouse: DuckDBWarehouse, tmp_path: Path) -> None:
    rest = warehouse.source.room / "new-left"
    rest.mkdir(parents=True)
    (rest / "shop.duckdb").write_bytes(b"half")
    assert warehouse.row_count(ORDERS) == 1000
    assert not unfinished(tmp_path)


def test_a_full_disk_is_one_sentence_and_leaves_nothing(
    warehouse: DuckDBWarehouse, tmp_path: Path, full_disk: Callable[[Path], None]
) -> None:
    full_disk(tmp_path / "cache")
    with pytest.raises(Unavailable) as refused:
        warehouse.row_count(ORDERS)
    assert str(refused.value) == (
        "not evaluated: the disk is full, there is no room for a copy of the DuckDB file shop.duckdb"
    )
    assert not copies(tmp_path)
    assert not unfinished(tmp_path)


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], None]]:
    """Make a folder too small for a copy: a real small tmpfs where mounting is allowed, else a failing write."""
    mounted: list[Path] = []

    def fill(folder: Path) -> None:
        folder.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
        if shutil.which("mount") and subprocess.run(mount, capture_output=True, check=False).returncode == 0:
            mounted.append(folder)
            return

        def fail(*_: object, **__: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(shutil, "copyfile", fail)

    yield fill
    for folder in mounted:
        subprocess.run(["umount", str(folder)], check=True)


def test_the_query_is_stopped_when_its_time_is_over(warehouse: DuckDBWarehouse) -> None:
    endless = "with recursive r as (select 1 as n union all select n + 1 from r) select count(*) from r"
    with pytest.raises(TimedOut, match=r"longer than 0\.3 s"):
        select(warehouse, endless, timeout=timedelta(seconds=0.3))
    with pytest.raises(TimedOut):
        select(warehouse, endless, timeout=timedelta(0))
    assert warehouse.row_count(ORDERS) == 1000


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_text('/etc/passwd')",
        "attach '/tmp/other.duckdb'",
        "copy (select 1) to '/tmp/out.csv'",
        "set enable_external_access = true",
        "set lock_configuration = false",
        "load httpfs",
        "insert into sales.orders values (1, 1)",
        "select * from python_variable",
    ],
)
def test_the_engine_itself_refuses_what_a_hole_in_the_guard_would_let_through(
    warehouse: DuckDBWarehouse, sql: str
) -> None:
    python_variable = [1]
    with (
        copy_of(warehouse.source, wait=SECOND) as copy,
        duckdb.connect(str(copy), read_only=True, config=dict(_config(copy.parent / "spill"))) as connection,
        pytest.raises(duckdb.Error),
    ):
        connection.execute(sql)
    assert python_variable


def test_an_unknown_column_or_a_type_error_is_the_querys_fault(warehouse: DuckDBWarehouse) -> None:
    with pytest.raises(QueryFailed, match="nothing_like_it"):
        select(warehouse, "select nothing_like_it from sales.orders")
    with pytest.raises(QueryFailed, match="refused"):
        select(warehouse, "select cast(name as integer) from (values ('x')) v(name)")
    with pytest.raises(TableMissing, match="missing"):
        select(warehouse, "select * from sales.gone")


def test_the_database_can_go_by_the_name_that_the_queries_use(file: Path, tmp_path: Path) -> None:
    warehouse = DuckDBWarehouse(Source(file, tmp_path / "cache", "prod"))
    assert warehouse.row_count(Relation("prod", "sales", "orders")) == 1000


def test_what_is_no_duckdb_file_is_said_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "notes.duckdb").write_bytes(b"not a database" * 500)
    for name, sentence in (("notes", "is not a DuckDB database"), ("absent", "does not exist")):
        with pytest.raises(Unavailable, match=f"{name}.duckdb {sentence}") as refused:
            DuckDBWarehouse(Source(tmp_path / f"{name}.duckdb", tmp_path / "cache")).test()
        assert str(tmp_path) not in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "params", "secrets"),
    [
        ("duckdb", {}, []),
        ("duckdb", {"path": 5}, []),
        ("duckdb", {"path": "x", "memory_limit": "9GB"}, []),
        ("duckdb", {"path": "x", "database": "a/b"}, []),
        ("duckdb", {"path": "x"}, ["SPELLBOOK_CONN_X"]),
        ("oracle", {}, []),
    ],
)
def test_a_connection_that_cannot_be_is_refused(kind: str, params: dict[str, Any], secrets: list[str]) -> None:
    with pytest.raises(BadInput):
        open_warehouse(kind, params, secrets)


def test_the_registry_puts_copies_into_the_data_folder(file: Path, tmp_path: Path, settings: Any) -> None:
    settings.SPELLBOOK_DATA_DIR = tmp_path / "data"
    warehouse = open_warehouse("duckdb", {"path": str(file)}, [])
    assert warehouse.row_count(ORDERS) == 1000
    assert list((tmp_path / "data" / "warehouse").glob("*/copy-*/shop.duckdb"))


def test_a_dataset_name_leaves_out_what_is_absent() -> None:
    assert dataset_name(ORDERS) == "shop.sales.orders"
    assert dataset_name(Relation(None, None, "orders")) == "orders"
