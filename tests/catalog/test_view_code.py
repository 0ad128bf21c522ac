"""Which tables a view reads, as its own code says."""

from __future__ import annotations

import pytest

from catalog.sources.view_code import LONGEST, reads


@pytest.mark.parametrize(
    ("code", "dialect", "tables"),
    [
        ("create view s.v as select * from s.a", "duckdb", {"s.a"}),
        ("CREATE VIEW v AS (FROM a JOIN db.s.b ON (true));", "duckdb", {"a", "db.s.b"}),
        ("with a as (select * from s.t) select * from a", "postgres", {"s.t"}),
        ("with A as (select 1 as x) select * from a", "duckdb", set()),
        ("with a as (select 1) select * from a, s.a", "postgres", {"s.a"}),
        ("with recursive r as (select 1 n union all select n from r join s.t on true) select * from r", "postgres",
         {"s.t"}),
        ("with a as (select * from t) select * from (with b as (select * from a) select * from b) x, b", "postgres",
         {"t", "b"}),
        ("select (select max(x) from z.y) from s.t where k in (select k from q) union all select 1 from u", "postgres",
         {"z.y", "s.t", "q", "u"}),
        ("select * from s.t cross join lateral (select * from w where w.i = t.i) x", "postgres", {"s.t", "w"}),
        ("select * from s.t, unnest(t.list) u, range(10) r", "duckdb", {"s.t"}),
        ("select * from generate_series(1, 3) g join s.t on true", "postgres", {"s.t"}),
        ('select * from "Odd.Schema"."na me"', "postgres", {"Odd.Schema.na me"}),
        ("select 1", "postgres", set()),
    ],
)  # fmt: skip
def test_code_that_can_be_told_for_sure(code: str, dialect: str, tables: set[str]) -> None:
    found = reads(code, dialect)
    assert {".".join(part for part in table if part) for table in found.tables} == tables
    assert found.unsure == ""


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("select * from read_csv('x.csv')", "function"),
        ("select from where", "cannot be read"),
        ("values (1)", "no query"),
        ("select 1 from s.t".ljust(LONGEST + 1), "longer than"),
        ("drop table s.t", "no query"),
        ("", "cannot be read"),
        ("select " + "(" * 3000 + "1" + ")" * 3000, "cannot be read"),
    ],
)
def test_code_that_cannot_is_said_to_be_unsure(code: str, why: str) -> None:
    assert why in reads(code, "duckdb").unsure


def test_what_is_sure_in_code_that_is_not_in_full_is_kept() -> None:
    found = reads("select * from s.t join read_parquet('x') p on true", "duckdb")
    assert found.tables == (("", "s", "t"),)
    assert found.unsure
