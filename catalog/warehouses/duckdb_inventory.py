"""What DuckDB's own catalogue says of every table and view of one file."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import duckdb

from catalog.warehouses.base import ColumnInfo, Relation, TableFacts

TABLES: Final = """
    with seen as (
        select database_name as d, schema_name as s, table_name as t, 'table' as kind, comment, estimated_size as rows,
            '' as definition
        from duckdb_tables() where not internal and not temporary and database_name = current_database()
        union all
        select database_name, schema_name, view_name, 'view', comment, null, sql
        from duckdb_views() where not internal and not temporary and database_name = current_database()
    ), described as (
        select database_name as d, schema_name as s, table_name as t,
            list([column_name, data_type, is_nullable::varchar, column_index::varchar, coalesce(comment, '')]
                order by column_index) as columns
        from duckdb_columns() where not internal and database_name = current_database() group by all
    )
    select seen.*, columns from seen left join described using (d, s, t) order by d, s, t
"""
BLOCKS: Final = """
    select count(distinct block) from (
        select unnest(list_append(additional_block_ids, block_id)) as block from pragma_storage_info(?) where persistent
    )
"""
BLOCK_SIZE: Final = "select block_size from pragma_database_size()"
SIZING: Final = 5.0
"""Seconds for the sizes of all tables, which DuckDB tells one at a time; what is not reached is not known."""


def inventory(connection: duckdb.DuckDBPyConnection) -> list[TableFacts]:
    """Every table and view of the open file. Errors are those of DuckDB."""
    found = connection.execute(TABLES).fetchall()
    block, give_up = connection.execute(BLOCK_SIZE).fetchall()[0][0], time.monotonic() + SIZING
    return [_facts(row, partial(_bytes, connection, block, give_up)) for row in found]


def _facts(row: Sequence[Any], size: Callable[[Relation], int | None]) -> TableFacts:
    database, schema, name, kind, comment, rows, definition, columns = row
    relation = Relation(database, schema, name)
    return TableFacts(
        relation,
        kind,
        tuple(ColumnInfo(one[0], one[1], one[2] == "true", int(one[3]), one[4]) for one in columns or ()),
        comment or "",
        rows,
        size(relation) if kind == "table" else None,
        definition or "",
    )


def _bytes(connection: duckdb.DuckDBPyConnection, block: int, give_up: float, relation: Relation) -> int | None:
    if time.monotonic() > give_up:
        return None
    return int(connection.execute(BLOCKS, [relation.sql("duckdb")]).fetchall()[0][0]) * block
