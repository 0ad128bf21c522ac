"""What the review says of columns, held against what both queries give on data with NULLs and duplicates.

The labelled changes of the row-set classifier are put into a model, with queries of several forms that read it. What
the review does not call reached has to be the same before and after.
"""
# ruff: noqa: S608 -- the queries are made of constants of the tests

from __future__ import annotations

from collections import Counter
from functools import cache

import duckdb
import pytest
import sqlglot

from catalog.review.types import SAFE, KnownReader
from catalog.sources.manifest_types import Manifest
from tests.catalog.review.pairs import build, change_of, known, node, reviewed, sync
from tests.catalog.row_set_data import warehouse
from tests.catalog.test_row_set_suite import PAIRS, counts

pytestmark = pytest.mark.real

BELOW = [
    "select * from {{q}}",
    "select {0} as renamed, {1} from {{q}}",
    "select q.*, s.name as store from {{q}} as q left join raw.stores as s on q.{1}::varchar = s.store_id::varchar",
    "select {0}, count(*) as n, min({1}) as least from {{q}} group by {0}",
    "select {1}, 1 as one from {{q}} where {0} is not null",
    "with x as (select *, {0} as again from {{q}}) select again, {1} from x",
    "select {1} from {{q}} union all select {0}::varchar from {{q}}",
    "select distinct {1} from {{q}}",
    "select q.{0} from {{q}} as q, unnest([q.{1}, null]) as u(x) where x is not null",
    "select q.{0} from {{q}} as q cross join unnest(string_split(q.{1}::varchar, 'e')) as u(x)",
    "select q.{0} from {{q}} as q left join lateral (select unnest(string_split(q.{1}::varchar, 'e'))) as u on true",
    "select q.{0} from {{q}} as q, generate_series(1, length(q.{1}::varchar)) as u(x)",
    "select q.{0} from {{q}} as q, range(length(q.{1}::varchar)) as u(x)",
]


@cache
def warehouses() -> list[duckdb.DuckDBPyConnection]:
    found = [warehouse(seed) for seed in (1, 2, 3)]
    for one in found:
        one.execute("set threads = 1")
    return found


def pair_of(name: str) -> tuple[str, str]:
    """Both queries in DuckDB's dialect."""
    pair = PAIRS[name]
    before, after = (sqlglot.transpile(sql, read=pair.dialect, write="duckdb")[0] for sql in (pair.before, pair.after))
    return before, after


def columns_of(sql: str) -> list[str]:
    return [column[0].lower() for column in warehouses()[0].execute(sql).description or ()]


def values(sql: str, columns: list[str]) -> list[Counter[str]]:
    """How often each row of these columns comes in each warehouse."""
    listed = ", ".join(f'"{column}"' for column in columns)
    return [Counter(map(repr, one.execute(f"select {listed} from ({sql})").fetchall())) for one in warehouses()]


def built(query: str, below: str) -> Manifest:
    return build(node("q", query), node("c", below))


def over(query: str, below: str) -> str:
    """The query `below` over what `query` gives."""
    below = below.replace("{q}", "q")
    if below.startswith("with "):
        return f"with q as ({query}), {below.removeprefix('with ')}"
    return f"with q as ({query}) {below}"


RUN = [name for name in PAIRS if counts(name) is not None]
followed: Counter[str] = Counter()


@pytest.mark.parametrize("place", range(len(RUN)), ids=RUN)
def test_what_is_not_called_reached_gives_the_same_before_and_after(place: int) -> None:
    before, after = pair_of(RUN[place])
    names = columns_of(before), columns_of(after)
    shared = [column for column in names[0] if column in names[1] and names[0].count(column) == 1]
    followed["places"] += 1
    if not shared:
        return
    for template in BELOW:
        below = template.format(f'"{shared[0]}"', f'"{shared[-1]}"')
        pair = over(before, below), over(after, below)
        try:
            outputs = [column for column in columns_of(pair[0]) if column in columns_of(pair[1])]
        except duckdb.Error:  # a type that this form does not take
            continue
        readers = [KnownReader(column, "dashboard", ("c",), columns=frozenset({column})) for column in outputs]
        change = change_of(reviewed(built(before, below), built(after, below), known(*readers)), "q")
        if change.only_columns is None and change.verdict != SAFE:
            assert len(change.readers) == len(outputs)
            return
        if template is BELOW[0]:
            rest = [column for column in shared if column not in (change.only_columns or ())]
            assert not rest or values(before, rest) == values(after, rest)
            followed["changes"] += 1
        spared = [column for column in outputs if column not in {one.name for one in change.readers}]
        followed["spared"] += len(spared)
        if spared:
            assert values(pair[0], spared) == values(pair[1], spared), (below, spared)


def test_many_changes_are_confined_and_many_columns_spared() -> None:
    assert len(RUN) > 150
    if followed["places"] == len(RUN):  # not when some of the tests run alone
        assert followed["changes"] >= 20, followed
        assert followed["spared"] > 200, followed


@pytest.mark.parametrize("name", [name for name in PAIRS if PAIRS[name].direction != "same_rows"])
def test_no_labelled_change_that_alters_the_rows_is_safe(name: str) -> None:
    pair = PAIRS[name]
    found = reviewed(build(node("q", pair.before)), build(node("q", pair.after)), known(sync("s", "q")))
    assert found.verdict != SAFE
