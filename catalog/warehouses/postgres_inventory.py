"""What PostgreSQL's own catalogue says of every table and view of one database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from catalog.warehouses.base import ColumnInfo, Relation, TableFacts

TABLES_IN_FULL: Final = """
    with recursive held as materialized (
        select relation as oid from pg_catalog.pg_locks
        where granted and mode = 'AccessExclusiveLock' and relation is not null and pid <> pg_catalog.pg_backend_pid()
    ), locked as materialized (
        select coalesce(array_agg(oid), '{}') as oids from (
            select oid from held union
            select indrelid from pg_catalog.pg_index where indexrelid in (select oid from held)) one
    ), tree (root, oid) as (
        select c.oid, c.oid from pg_catalog.pg_class c where c.relkind = 'p' and not c.relispartition
        union all
        select tree.root, i.inhrelid from tree join pg_catalog.pg_inherits i on i.inhparent = tree.oid
    ), partitioned as (
        select tree.root, nullif(sum(greatest(l.reltuples, 0)) filter (where l.relkind <> 'p'), 0)::bigint as rows,
            bool_or(l.oid = any(locked.oids)) as locked, sum(case when l.oid = any(locked.oids) then null
                else pg_catalog.pg_total_relation_size(l.oid) end)::bigint as bytes
        from locked, tree join pg_catalog.pg_class l on l.oid = tree.oid group by tree.root
    )
    select current_database(), n.nspname, c.relname, case when c.relkind in ('v', 'm') then 'view' else 'table' end,
        (select json_agg(json_build_array(a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
                not a.attnotnull, a.attnum, coalesce(pg_catalog.col_description(c.oid, a.attnum), ''))
            order by a.attnum)
         from pg_catalog.pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
        coalesce(pg_catalog.obj_description(c.oid, 'pg_class'), ''),
        case when c.relkind = 'p' then p.rows when c.relkind <> 'v' and c.reltuples >= 0 then c.reltuples::bigint end,
        case when c.relkind in ('v', 'f') or c.oid = any(locked.oids) or p.locked then null
            when c.relkind = 'p' then p.bytes else pg_catalog.pg_total_relation_size(c.oid) end,
        case when c.relkind in ('v', 'm') then pg_catalog.pg_get_viewdef(c.oid) else '' end
    from locked, pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        left join partitioned p on p.root = c.oid
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
        and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
        and not exists (select from pg_catalog.pg_depend x where x.deptype = 'e' and x.objid = c.oid
            and x.classid = 'pg_catalog.pg_class'::pg_catalog.regclass)
    order by 2, 3
"""
"""A table that a build has locked is not waited for: its size is not known this time."""
OPTIONS: Final = " -c search_path= -c lock_timeout=2s"
"""Without a search path names in a view's code come with their schema. To print that code PostgreSQL takes a read lock
on all that the view reads; whoever waits for one holds up those who come after it, so it is not waited for long."""

RIGHTS: Final = """
    select r.rolsuper,
        (select count(*) from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
         where c.relkind in ('r', 'p') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
            and pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')),
        (select count(*) from pg_catalog.pg_namespace n where n.nspname !~ '^pg_'
            and n.nspname <> 'information_schema' and pg_catalog.has_schema_privilege(n.oid, 'CREATE'))
    from pg_catalog.pg_roles r where r.rolname = current_user
"""


def rights_in_words(superuser: bool, tables: int, schemas: int) -> str:
    """What the row of `RIGHTS` means; "" for an account that only reads."""
    if superuser:
        return "it is a superuser"
    parts = [f"write {tables} tables"] * bool(tables) + [f"create tables in {schemas} schemas"] * bool(schemas)
    return f"it may {' and '.join(parts)}" if parts else ""


def facts_of(row: Sequence[Any]) -> TableFacts:
    """One row of `TABLES_IN_FULL`."""
    database, schema, name, kind, columns, comment, rows, size, definition = row
    infos = tuple(ColumnInfo(*one) for one in columns or ())
    return TableFacts(Relation(database, schema, name), kind, infos, comment, rows, size, definition or "")
