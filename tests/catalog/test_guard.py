"""What a query may be, and the many SELECTs that are refused."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from catalog.warehouses import guard_lists
from catalog.warehouses.base import Relation, count_sql
from catalog.warehouses.guard import LONGEST, Refused, guard
from foundation.errors import BadInput

HOSTILE = [
    # functions that act, read files, sleep, reveal or reach out
    ("postgres", "select pg_terminate_backend(1)", "pg_terminate_backend"),
    ("postgres", "select pg_catalog.pg_terminate_backend(1)", "pg_terminate_backend"),
    ("postgres", 'select "pg_terminate_backend"(1)', "pg_terminate_backend"),
    ("postgres", "select pg_/**/sleep(10)", None),
    ("postgres", "select/**/pg_sleep/**/(10)", "pg_sleep"),
    ("postgres", "select 1 where exists (select pg_sleep(10))", "pg_sleep"),
    ("postgres", "select count(*) filter (where pg_cancel_backend(1)) from t", "pg_cancel_backend"),
    ("postgres", "select 1 from t order by lo_import('/etc/passwd')", "lo_import"),
    ("postgres", "select set_config('default_transaction_read_only', 'off', false)", "set_config"),
    ("postgres", "select current_setting('data_directory')", "current_setting"),
    ("postgres", "select nextval('s')", "nextval"),
    ("postgres", "select dblink('host=evil', 'select 1')", "dblink"),
    ("postgres", "select query_to_xml('delete from t', true, true, '')", "query_to_xml"),
    ("postgres", "select pg_read_file('/etc/passwd')", "pg_read_file"),
    ("postgres", "select repeat('x', 1000000000)", "repeat"),
    ("postgres", "select current_user", "current_user"),
    ("postgres", "select my_schema.my_function(a) from t", "my_function"),
    ("duckdb", "select getenv('HOME')", "getenv"),
    ("duckdb", "select nextval('s')", "nextval"),
    ("duckdb", "select * from t where a = getvariable('x')", "getvariable"),
    # functions in the place of a table
    ("duckdb", "select * from read_text('/etc/passwd')", "read_text"),
    ("duckdb", "from read_csv('x.csv')", "read_csv"),
    ("duckdb", "select * from read_parquet(['a'])", "read_parquet"),
    ("duckdb", "select * from glob('/*')", "glob"),
    ("duckdb", "select * from duckdb_secrets()", "duckdb_secrets"),
    ("duckdb", "select * from generate_series(1, 1000000000)", "generate_series"),
    ("duckdb", "select * from query('drop table t')", "query"),
    ("duckdb", "select * from query_table('t')", "query_table"),
    ("duckdb", "select * from t, unnest([1, 2]) u(x)", "unnest"),
    ("postgres", "select * from pg_ls_dir('/')", "pg_ls_dir"),
    ("postgres", "select * from rows from (pg_ls_dir('/'))", "not the name of a table"),
    ("postgres", "select * from lateral pg_ls_dir('/') x", None),
    ("postgres", "select * from count(*)", "count"),
    ("postgres", "with x as (select * from pg_read_file('/etc/passwd')) select * from x", "pg_read_file"),
    # files and addresses in the place of a table
    ("duckdb", "select * from '/etc/passwd'", "file"),
    ("duckdb", "select * from 'x.csv'", "file"),
    ("duckdb", 'select * from "x.csv"', "file"),
    ("duckdb", 'select * from "data"."csv"', "file"),
    ("duckdb", "select * from 'X.PARQUET'", "file"),
    ("duckdb", "select * from 'https://example.com/x'", "file"),
    ("duckdb", "select * from 's3://bucket/x'", "file"),
    ("duckdb", "select * from 'data_*'", "file"),
    ("duckdb", "select * from 'a.csv.gz' join t using (id)", "file"),
    ("duckdb", "select * from t where a in (select a from 'x.json')", "file"),
    # the system's own tables
    ("postgres", "select * from pg_catalog.pg_authid", "system"),
    ("postgres", "select * from pg_shadow", "system"),
    ("postgres", 'select * from "PG_CATALOG".x', "system"),
    ("postgres", "select * from information_schema.tables", "system"),
    ("duckdb", "select * from duckdb_settings", "system"),
    # statements that are not a SELECT
    ("duckdb", "copy t to 'x.csv'", "COPY"),
    ("duckdb", "copy (select 1) to '/tmp/x'", "COPY"),
    ("duckdb", "pragma database_list", "PRAGMA"),
    ("duckdb", "attach 'x.duckdb'", "ATTACH"),
    ("duckdb", "install httpfs", None),
    ("duckdb", "load httpfs", None),
    ("duckdb", "set threads = 64", "SET"),
    ("duckdb", "summarize t", "SUMMARIZE"),
    ("duckdb", "call pragma_version()", None),
    ("duckdb", "export database 'x'", None),
    ("postgres", "copy t to program 'sh'", "COPY"),
    ("postgres", "do $$ begin end $$", "DO"),
    ("postgres", "explain analyze delete from t", None),
    ("postgres", "insert into t values (1)", "INSERT"),
    ("postgres", "delete from t", "DELETE"),
    ("postgres", "truncate t", None),
    ("postgres", "create table x as select 1", "CREATE"),
    ("postgres", "listen x", None),
    ("postgres", "vacuum", None),
    ("postgres", "", "0 statements"),
    ("postgres", "-- only a comment", "0 statements"),
    # more than one statement, hidden or not
    ("postgres", "select 1; select 2", "2 statements"),
    ("postgres", "select 1; drop table t; --", "2 statements"),
    ("postgres", "select 1 -- \n; drop table t", "2 statements"),
    ("postgres", "select 1 /* /* nested */ ; drop table t -- */ ; drop table u", None),
    ("postgres", "select $$a$$; drop table t; --$$", "2 statements"),
    ("postgres", "select E'\\'; drop table t; --'", "not allowed"),
    # SELECTs that write, lock or take values from outside
    ("postgres", "select * into x from t", "INTO"),
    ("postgres", "select 1 into temp x", "INTO"),
    ("postgres", "select * from t for update", "LOCK"),
    ("postgres", "select * from t for share skip locked", "LOCK"),
    ("postgres", "select * from (select * from t for no key update) q", "LOCK"),
    ("duckdb", "select * from t for update", "LOCK"),
    ("postgres", "with d as (delete from t returning *) select * from d", "DELETE"),
    ("postgres", "with d as (insert into t values (1) returning *) select * from d", "INSERT"),
    ("postgres", "with d as (update t set a = 1 returning *) select * from d", "UPDATE"),
    ("postgres", "select a operator(pg_catalog.+) b from t", "OPERATOR"),
    ("postgres", "select 'x'::my_type", "type"),
    ("postgres", "select 'pg_class'::regclass", "not allowed"),
    ("duckdb", "select $1", "PLACEHOLDER"),
    ("duckdb", "select ?", "PLACEHOLDER"),
    ("duckdb", "select columns('.*') from t", "columns"),
    ("postgres", "select * from t limit (select 5)", None),
    ("postgres", "select * from t limit all", "LIMIT"),
    ("postgres", "select * from t fetch first 5 rows with ties", None),
    # what no parser can take
    ("postgres", "select from where", None),
    ("postgres", "select 1 \\; drop table x", "not valid"),
    ("postgres", "select '\0'", "null character"),
    ("postgres", "select " + "(" * 5000 + "1" + ")" * 5000, None),
    ("duckdb", "select '" + "x" * LONGEST + "'", "longer"),
    ("bigquery", "select * from external_query('c', 'select 1')", "bigquery"),
    ("nonsense", "select 1", "nonsense"),
]

FRIENDLY = [
    ("duckdb", "select count(*), count(distinct a), count(*) filter (where b is null) from s.t"),
    ("duckdb", "select count(*) from t where not t.is_hidden;"),
    ("duckdb", "from t"),
    ("duckdb", "select median(x), quantile_cont(x, 0.5), stddev_samp(x), any_value(a), arg_max(a, b), mode(a) from t"),
    ("duckdb", "select date_trunc('day', ts), extract(year from ts), date_diff('day', a, b), now(), hash(a) from t"),
    (
        "duckdb",
        "select row_number() over (partition by a order by b), lag(a, 1) over w from t window w as (order by x)",
    ),
    ("duckdb", "select * exclude (a) from t qualify row_number() over (order by b) = 1"),
    ("duckdb", "select a from db.s.t union all select b from u order by 1 limit 5"),
    ("duckdb", "with recursive r as (select 1 as n union all select n + 1 from r where n < 5) select * from r"),
    ("duckdb", "select x -> 'a', x ->> 'b', l[1], list_contains(l, 1) from (values (1, 2)) v(x, l)"),
    ("duckdb", 'select "odd; drop table t" from "weird; drop table"'),
    ("postgres", "select count(*) from only_a_name where a ~* 'x' and b is not distinct from c"),
    ("postgres", "select percentile_cont(0.5) within group (order by x), bool_or(a), string_agg(a, ',') from t"),
    (
        "postgres",
        "select now() - interval '1 day', a::timestamptz at time zone 'UTC', to_char(a, 'YYYY'), age(a) from t",
    ),
    ("postgres", "select case when a then 1 else 2 end, coalesce(a, b), nullif(a, b), a in (select b from u) from t"),
    ("postgres", "(select 1) limit 3"),
    ("postgres", "select 'a;b -- not a comment /* nor this' as text -- but this\n;"),
]


@pytest.mark.parametrize(("dialect", "sql", "named"), HOSTILE, ids=[sql[:50] for _, sql, _ in HOSTILE])
def test_a_query_that_can_do_more_than_read_is_refused_by_name(dialect: str, sql: str, named: str | None) -> None:
    with pytest.raises(Refused) as refused:
        guard(sql, dialect=dialect, row_limit=100)
    sentence = str(refused.value)
    assert sentence
    assert "\n" not in sentence
    if named:
        assert named in sentence


@pytest.mark.parametrize(("dialect", "sql"), FRIENDLY, ids=[sql[:50] for _, sql in FRIENDLY])
def test_an_ordinary_query_passes_and_passes_again_when_rendered(dialect: str, sql: str) -> None:
    rendered = guard(sql, dialect=dialect, row_limit=100)
    assert guard(rendered, dialect=dialect, row_limit=100) == rendered
    assert "--" not in rendered or "'" in rendered


def test_a_query_without_a_limit_gets_one_row_more_than_allowed() -> None:
    assert guard("select a from t", dialect="duckdb", row_limit=10) == "SELECT a FROM t LIMIT 11"


def test_a_smaller_limit_of_the_query_stays_and_a_larger_one_is_lowered() -> None:
    assert guard("select a from t limit 3", dialect="duckdb", row_limit=10).endswith("LIMIT 3")
    assert guard("select a from t limit 300", dialect="duckdb", row_limit=10).endswith("LIMIT 11")


def test_a_limit_inside_does_not_count_as_the_limit_of_the_whole() -> None:
    sql = guard("select a from (select a from t limit 3) q union all select b from u", dialect="postgres", row_limit=10)
    assert sql.endswith("FROM u LIMIT 11")


def test_a_row_limit_of_nothing_is_refused() -> None:
    with pytest.raises(BadInput, match="row limit"):
        guard("select 1", dialect="duckdb", row_limit=0)


@pytest.mark.parametrize("name", ['we"ird', "x; drop table y", "x' or 1=1", "a -- b", "naïve ☂"])
@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_a_strange_name_is_one_quoted_identifier(name: str, dialect: str) -> None:
    relation = Relation("data", "Odd Schema", name)
    tree = sqlglot.parse_one(guard(count_sql(relation, dialect), dialect=dialect, row_limit=1), read=dialect)
    table = tree.find(exp.Table)
    assert table is not None
    assert [part.name for part in table.parts] == ["data", "Odd Schema", name]


@pytest.mark.parametrize("parts", [("db", None, "t"), (None, None, ""), (None, "", "t"), (None, None, "a\0b")])
def test_a_name_with_a_missing_part_is_refused(parts: tuple[str | None, str | None, str]) -> None:
    with pytest.raises(BadInput):
        Relation(*parts)


def test_no_list_allows_a_function_that_acts_outside_the_query() -> None:
    allowed = set().union(*guard_lists.FUNCTIONS.values())
    for word in (
        "READ",
        "COPY",
        "SLEEP",
        "FILE",
        "DBLINK",
        "NEXTVAL",
        "SETVAL",
        "GETENV",
        "SETTING",
        "ADMIN",
        "ADVISORY",
    ):
        assert not [name for name in allowed if word in name]
