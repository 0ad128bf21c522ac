"""Column lineage from SQL alone: pure functions, no database."""

# ruff: noqa: S608 -- nothing runs these queries

from __future__ import annotations

import time

import pytest

from catalog.column_lineage import Schema, Traced, trace

SHOP: Schema = {
    ("dev", "main", "orders"): {"id": "int", "customer_id": "int", "amount": "double", "status": "text"},
    ("dev", "main", "customers"): {"id": "int", "name": "text"},
}


def traced(sql: str, dialect: str = "duckdb", schema: Schema = SHOP) -> Traced:
    return trace(sql, dialect=dialect, schema=schema)


def said(found: Traced) -> dict[str, tuple[str, list[str]]]:
    """Each column's kind and its sources as `table.column`, `?` for a table alone."""
    return {
        name: (value.kind, sorted(f"{one.table[-1]}.{one.column or '?'}" for one in value.sources))
        for name, value in found.columns.items()
    }


def rows(found: Traced) -> list[str]:
    return sorted(f"{one.table[-1]}.{one.column or '?'}" for one in found.rows)


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("select id from main.orders", {"id": ("identity", ["orders.id"])}),
        ('select o."id" as "Key" from main.orders o', {"key": ("identity", ["orders.id"])}),
        ("select (id) as a, id + 1 as b, 1 as c, now() as d from main.orders", {
            "a": ("identity", ["orders.id"]), "b": ("transformed", ["orders.id"]), "c": ("constant", []),
            "d": ("constant", []),
        }),
        ("select count(*) as n, sum(amount) as s, max(id) - min(id) as d from main.orders", {
            "n": ("aggregated", []), "s": ("aggregated", ["orders.amount"]), "d": ("aggregated", ["orders.id"]),
        }),
        ("select row_number() over (partition by status order by id) as n, lag(amount) over (order by id) as l,"
         " sum(amount) over (partition by status) as s from main.orders", {
            "n": ("aggregated", ["orders.id", "orders.status"]), "l": ("transformed", ["orders.amount", "orders.id"]),
            "s": ("aggregated", ["orders.amount", "orders.status"]),
        }),
        ("with a as (select *, amount * 2 as twice from main.orders), b as (select a.twice, c.name from a"
         " join main.customers c on c.id = a.customer_id) select * from b", {
            "twice": ("transformed", ["orders.amount"]), "name": ("identity", ["customers.name"]),
        }),
        ("select x.n from (select name as n from (select * from main.customers)) x",
         {"n": ("identity", ["customers.name"])}),
        ("select id, name from main.customers union all select id, status from main.orders", {
            "id": ("identity", ["customers.id", "orders.id"]),
            "name": ("identity", ["customers.name", "orders.status"]),
        }),
        ("select id from main.customers union all select 0", {"id": ("transformed", ["customers.id"])}),
        ("select status as s, id from main.orders union all by name select id, name as s from main.customers", {
            "s": ("identity", ["customers.name", "orders.status"]), "id": ("identity", ["customers.id", "orders.id"]),
        }),
        ("select * exclude (id, status) replace (amount / 100 as amount) rename (customer_id as c) from main.orders",
         {"c": ("identity", ["orders.customer_id"]), "amount": ("transformed", ["orders.amount"])}),
        ("select id, name, amount from main.orders join main.customers using (id)", {
            "id": ("identity", ["orders.id"]), "name": ("identity", ["customers.name"]),
            "amount": ("identity", ["orders.amount"]),
        }),
        ("select * from main.orders full join main.customers using (id)", {
            "id": ("identity", ["customers.id", "orders.id"]), "customer_id": ("identity", ["orders.customer_id"]),
            "amount": ("identity", ["orders.amount"]), "status": ("identity", ["orders.status"]),
            "name": ("identity", ["customers.name"]),
        }),
        ("select * from main.customers semi join main.orders on orders.customer_id = customers.id",
         {"id": ("identity", ["customers.id"]), "name": ("identity", ["customers.name"])}),
        ("select (select max(amount) from main.orders o where o.customer_id = c.id) as most,"
         " exists (select 1 from main.orders o where o.id = c.id) as any from main.customers c", {
            "most": ("aggregated", ["orders.amount"]), "any": ("transformed", ["customers.id", "orders.id"]),
        }),
        ("select amount * 2 as a, a + 1 as b from main.orders",
         {"a": ("transformed", ["orders.amount"]), "b": ("transformed", ["orders.amount"])}),
        ("with recursive t(a, b, c) as (select id, amount, status from main.orders union all select b, c, a from t)"
         " select a from t", {"a": ("identity", ["orders.amount", "orders.id", "orders.status"])}),
        ("select u.x from main.orders, unnest([amount, 1]) as u(x)", {"x": ("transformed", ["orders.amount"])}),
        ("select l.y from main.orders o, lateral (select o.amount + 1 as y) l",
         {"y": ("transformed", ["orders.amount"])}),
        ("select v.a, v.b from (values (1, 2)) v(a, b)", {"a": ("constant", []), "b": ("constant", [])}),
        ("select case when status = 'x' then amount else 0 end as a, status || name as b from main.orders o"
         " left join main.customers c on c.id = o.customer_id", {
            "a": ("transformed", ["orders.amount", "orders.status"]),
            "b": ("transformed", ["customers.name", "orders.status"]),
        }),
        ("create view v as select id from main.orders", {"id": ("identity", ["orders.id"])}),
        ("from main.customers", {"id": ("identity", ["customers.id"]), "name": ("identity", ["customers.name"])}),
    ],
)  # fmt: skip
def test_each_column_is_traced_to_what_it_is_made_of(sql: str, columns: dict[str, tuple[str, list[str]]]) -> None:
    found = traced(sql)
    assert said(found) == columns
    assert (found.state, found.reason) == ("known", "")


@pytest.mark.parametrize(
    ("dialect", "sql", "columns"),
    [
        ("snowflake", "select f.value:id::int as k, t.payload:a.b as b from t, lateral flatten(input => t.payload) f",
         {"K": ("transformed", ["T.PAYLOAD"]), "B": ("transformed", ["T.PAYLOAD"])}),
        ("bigquery", "select x.sku, t.a.b.c from `p.d.t` t cross join unnest(t.items) as x",
         {"sku": ("transformed", ["t.items"]), "c": ("transformed", ["t.a"])}),
        ("bigquery", "select i.sku from d.t as t, t.items as i", {"sku": ("transformed", ["t.items"])}),
        ("spark", "select x from t lateral view explode(arr) e as x", {"x": ("transformed", ["t.arr"])}),
        ("postgres", "select g as n from generate_series(1, 3) as g", {"n": ("constant", [])}),
        ("postgres", "select distinct on (a) a, b from t order by a, c desc",
         {"a": ("identity", ["t.a"]), "b": ("identity", ["t.b"])}),
        ("tsql", "select top 3 [A] as x from [t] with (nolock)", {"x": ("identity", ["t.a"])}),
        ("clickhouse", "select a from t final prewhere b = 1", {"a": ("identity", ["t.a"])}),
    ],
)  # fmt: skip
def test_each_dialect_is_read_by_its_own_rules(
    dialect: str, sql: str, columns: dict[str, tuple[str, list[str]]]
) -> None:
    assert said(traced(sql, dialect, {})) == columns


@pytest.mark.parametrize(
    ("sql", "decides"),
    [
        ("select id from main.orders where status = 'x'", ["orders.status"]),
        ("select sum(amount) as s from main.orders group by status having count(id) > 1",
         ["orders.id", "orders.status"]),
        ("select status, sum(amount) as s from main.orders group by 1", ["orders.status"]),
        ("select status, sum(amount) as s from main.orders group by all", ["orders.status"]),
        ("select o.id from main.orders o join main.customers c on c.id = o.customer_id",
         ["customers.id", "orders.customer_id"]),
        ("select distinct status from main.orders", ["orders.status"]),
        ("select id from main.customers union select id from main.orders", ["customers.id", "orders.id"]),
        ("select id from main.customers union all select id from main.orders", []),
        ("select id from main.orders order by amount limit 3", ["orders.amount"]),
        ("select id from main.orders order by amount", []),
        ("select id from main.orders qualify row_number() over (partition by status) = 1", ["orders.status"]),
        ("select id from main.orders where customer_id in (select id from main.customers where name = 'x')",
         ["customers.id", "customers.name", "orders.customer_id"]),
        ("with a as (select id from main.orders where amount > 1) select id from a", ["orders.amount"]),
    ],
)  # fmt: skip
def test_what_decides_the_rows_is_told_apart_from_values(sql: str, decides: list[str]) -> None:
    assert rows(traced(sql)) == decides


def test_a_star_over_a_table_without_known_columns_is_said_aloud() -> None:
    found = traced("select *, a + 1 as b from elsewhere.raw")
    assert found.state == "partly"
    assert found.reason == "not all columns of what it reads by `*` are known"
    assert said(found) == {"b": ("transformed", ["raw.a"])}
    assert found.passed == ("elsewhere", "raw")
    both = traced("select * from one, two")
    assert both.passed is None
    assert both.rest is not None
    assert {one.column for one in both.rest.sources} == {None}
    assert both.rest.confidence == 30


def test_a_list_of_columns_without_types_is_not_taken_for_the_whole_table() -> None:
    found = traced("select * from t", schema={("t",): {"a": "", "b": "int"}})
    assert set(found.columns) == {"a", "b"}
    assert found.passed == ("t",)


@pytest.mark.parametrize(
    ("sql", "schema", "confidence", "sources", "why"),
    [
        ("select x from a, b", {}, 50, {("a", "x"), ("b", "x")}, "several tables"),
        ("select x from main.orders", SHOP, 60, {("orders", "x")}, "does not know the column x"),
        ("select o.x from main.orders o, main.customers", SHOP, 60, {("orders", "x")}, "does not know"),
        ("select id from main.orders, main.customers", SHOP, 50, {("orders", "id"), ("customers", "id")}, "ambiguous"),
        ("select y as x from (select * from t) s", {}, 80, {("t", "y")}, ""),
        ("select a.gone as x from (select id from main.orders) a", SHOP, 20, {("orders", None)}, "was not found"),
        ("select f as x from read_csv('x.csv') t(f)", {}, 20, set(), "function read_csv"),
        ("select s as x from (select * from t pivot (sum(v) for k in ('s')))", {}, 60,
         {("t", "k"), ("t", "v")}, "PIVOT"),
    ],
)  # fmt: skip
def test_what_is_not_sure_says_how_sure_and_why(
    sql: str, schema: Schema, confidence: int, sources: set[tuple[str, str | None]], why: str
) -> None:
    found = traced(sql, schema=schema)
    (value,) = found.columns.values()
    assert value.confidence == confidence
    assert {(one.table[-1], one.column) for one in value.sources} == sources
    assert why in found.reason
    assert found.state == ("partly" if confidence < 80 else "known")


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("", "empty"),
        ("-- only a comment", "empty"),
        ("select 1; select 2", "not one query"),
        ("delete from t", "not a SELECT"),
        ("select from where", "could not be read"),
        ("select {{ ref('x') }} from t", "not compiled"),
        ("def model(dbt, session):\n    return dbt.ref('x')", "could not be read|not a SELECT"),
        ("select " + "(" * 5000 + "1" + ")" * 5000, "nested too deeply"),
        ("select a from t -- " + "x" * 300_000, "more than 300,000 characters"),
    ],
)
def test_what_cannot_be_read_is_unknown_and_says_why(sql: str, why: str) -> None:
    found = traced(sql)
    assert found.state == "unknown"
    assert any(one in found.reason for one in why.split("|"))
    assert (found.columns, found.rest) == ({}, None)


def test_an_ephemeral_model_stands_for_itself_where_the_schema_names_it() -> None:
    inner = "select id as k from main.orders where amount > 1"
    sql = f"with __dbt__cte__step as ({inner}) select *, k + 1 as j from __dbt__cte__step"
    assert said(traced(sql)) == {"k": ("identity", ["orders.id"]), "j": ("transformed", ["orders.id"])}
    inside = traced(sql, schema={**SHOP, ("__dbt__cte__step",): {}})
    assert said(inside) == {"k": ("identity", ["__dbt__cte__step.k"]), "j": ("transformed", ["__dbt__cte__step.k"])}
    shouted = traced(sql.replace("main.", ""), "snowflake", {("__dbt__cte__step",): {}})
    assert [value.sources for value in shouted.columns.values()] == [
        frozenset({(("__dbt__cte__step",), "K")}), frozenset({(("__dbt__cte__step",), "K")}),
    ]  # fmt: skip


def test_a_name_with_fewer_parts_means_the_one_table_that_ends_so() -> None:
    assert traced("select id from orders").tables == (("dev", "main", "orders"),)
    two = {**SHOP, ("dev", "raw", "orders"): {"id": "int"}}
    assert traced("select id from orders", schema=two).tables == (("orders",),)
    assert traced('select id from "dev"."raw"."orders"', schema=two).tables == (("dev", "raw", "orders"),)


WIDE = "select " + ", ".join(f"coalesce(c{n}, 0) + 1 as c{n}" for n in range(2700)) + " from t"
CHAIN = "with c0 as (select * from t)" + "".join(
    f", c{n} as (select a.*, a.x + {n} as y{n} from c{n - 1} a)" for n in range(1, 1500)
) + " select * from c1499"  # fmt: skip
UNION = " union all ".join(f"select a, b from t{n}" for n in range(1500))
OR = "select x from t where " + " or ".join(f"a = {n}" for n in range(4000))
CALLS = "select " + "replace(" * 80 + "a" + ", 1, 2)" * 80 + " as a from t"
NESTED = "select * from " + "(select * from " * 100 + "t" + ") q" * 100


@pytest.mark.parametrize(
    "sql", [WIDE, CHAIN, UNION, OR, CALLS, NESTED], ids=["wide", "chain", "union", "or", "calls", "nested"]
)
def test_a_hundred_kilobytes_take_seconds_at_most(sql: str) -> None:
    began = time.perf_counter()
    found = traced(sql, schema={})
    assert time.perf_counter() - began < 15  # about one second on an idle machine
    assert found.state in ("known", "partly")


def test_a_query_whose_columns_multiply_is_given_up() -> None:
    stars = ", ".join("*" for _ in range(50))
    ctes = "".join(f", c{n} as (select {stars} from c{n - 1})" for n in range(1, 6))
    found = traced(f"with c0 as (select * from main.orders){ctes} select * from c5")
    assert (found.state, found.reason) == ("unknown", "the code has too many columns to trace each")


def test_a_column_made_of_very_many_others_is_told_by_their_tables() -> None:
    found = traced("select " + " || ".join(f"c{n}" for n in range(400)) + " as x from t", schema={})
    (value,) = found.columns.values()
    assert {one.column for one in value.sources} == {None}
    assert (value.confidence, found.state) == (50, "partly")
