"""Column lineage against what a database really does, and against the manifests of other people's projects."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import orjson
import pytest
from sqlglot.errors import SqlglotError
from sqlglot.lineage import Node, lineage

from catalog.column_lineage import Schema, Traced, trace
from catalog.sources.naming import dialect_of
from tests.catalog.column_queries import TABLES, answers, changed, database, queries, ties_decide

KNOWN: Schema = {(table,): dict.fromkeys(columns, "int") for table, columns in TABLES.items()}
CORPUS = Path(os.environ.get("SPELLBOOK_TEST_CORPUS", "")) / "manifests"
needs_corpus = pytest.mark.skipif("SPELLBOOK_TEST_CORPUS" not in os.environ, reason="there is no corpus here")


def judge(connection: duckdb.DuckDBPyConnection, sql: str, schema: Schema) -> Traced:
    """Whoever changes a column changes nothing that the lineage does not name."""
    found = trace(sql, dialect="duckdb", schema=schema)
    assert found.state in ("known", "partly"), (sql, found.reason)
    before = answers(connection, sql)
    for table, columns in TABLES.items():
        for column in columns:
            told = {name for name, value in found.columns.items() if names(value.sources, table, column)}
            if names(found.rows, table, column):
                told = set(found.columns)
            if told < set(found.columns):
                missed = changed(connection, sql, table, column, before) - told
                assert not missed or ties_decide(connection, sql, before), (sql, f"{table}.{column} changes {missed}")
    return found


def names(sources: object, table: str, column: str) -> bool:
    return any(one.table[-1] == table and one.column in (column, None) for one in sources)  # type: ignore[attr-defined]


def test_no_column_changes_that_the_lineage_does_not_name() -> None:
    connection = database()
    for sql in queries(0, 60):
        assert judge(connection, sql, KNOWN).state == "known", sql
    for sql in queries(100, 20):
        judge(connection, sql, {})


@pytest.mark.prove
@pytest.mark.timeout(900)
def test_no_column_changes_that_the_lineage_does_not_name_in_a_thousand_queries() -> None:
    connection = database()
    for sql in queries(1000, 1000):
        judge(connection, sql, KNOWN)


def test_the_lineage_of_sqlglot_names_no_column_that_is_missing_here() -> None:
    for sql in queries(500, 40):
        found = trace(sql, dialect="duckdb", schema=KNOWN)
        for name, value in found.columns.items():
            try:
                node = lineage(name, sql, schema={table: dict(KNOWN[table,]) for table in TABLES}, dialect="duckdb")
            except (SqlglotError, ValueError):  # its own limits
                continue
            assert leaves(node) <= {(one.table[-1], one.column) for one in value.sources}, (sql, name)


def leaves(node: Node) -> set[tuple[str, str | None]]:
    return {
        (one.expression.name, one.name.rpartition(".")[2])
        for one in node.walk()
        if not one.downstream and one.expression.key == "table"
    }


@needs_corpus
@pytest.mark.parametrize("file", sorted(CORPUS.glob("*.json")), ids=lambda file: file.stem)
def test_the_compiled_code_of_real_projects_is_read(file: Path) -> None:
    document = orjson.loads(file.read_bytes())
    dialect = dialect_of(document["metadata"].get("adapter_type") or "")
    nodes = [node for node in document["nodes"].values() if node["resource_type"] in ("model", "snapshot")]
    for node in nodes:
        sql = node.get("compiled_code") or node.get("compiled_sql")
        if sql:
            found = trace(sql, dialect=dialect, schema={})
            assert found.state in ("known", "partly"), (node["unique_id"], found.reason)
            assert found.columns or found.rest, node["unique_id"]
