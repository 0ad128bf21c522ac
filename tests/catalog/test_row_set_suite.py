"""The labelled suite: each pair of queries in `row_sets/` has kinds and a direction, and is proved by running both.

A file holds a header (dialect, kinds, direction of the whole, columns as alias.column), the query before and the one
after. Both are run in DuckDB on small tables with NULLs and duplicates; a pair that DuckDB cannot run is counted apart.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import duckdb
import pytest
import sqlglot
from sqlglot.errors import SqlglotError

from catalog.diff.row_set import RowSetChange, classify, combined
from tests.catalog.row_set_data import warehouse

FOLDER = Path(__file__).parent / "row_sets"
SEEDS = range(6)
NOT_RUN = 3
"""Pairs that DuckDB cannot run, at most."""


class Pair(NamedTuple):
    """One file of the suite."""

    dialect: str
    kinds: list[str]
    direction: str
    columns: set[str]
    before: str
    after: str


def read(path: Path) -> Pair:
    head, _, rest = path.read_text().partition("-- before\n")
    before, _, after = rest.partition("\n-- after\n")
    said = dict(line.removeprefix("-- ").split(":", 1) for line in head.splitlines())
    words = {name: value.split() for name, value in said.items()}
    labels = sorted(words["kinds"]), words["direction"][0], set(words["columns"])
    return Pair(words["dialect"][0], *labels, before, after)


PAIRS = {path.stem: read(path) for path in sorted(FOLDER.glob("*.sql"))}


@cache
def warehouses() -> list[duckdb.DuckDBPyConnection]:
    return [warehouse(seed) for seed in SEEDS]


@cache
def counts(name: str) -> list[tuple[int, int]] | None:
    """(rows before, rows after) of a pair on each warehouse; None where DuckDB cannot run it."""
    pair = PAIRS[name]
    try:
        queries = [
            sqlglot.transpile(sql, read=pair.dialect, write="duckdb")[0] if pair.dialect != "duckdb" else sql
            for sql in (pair.before, pair.after)
        ]
        return [tuple(len(one.execute(query).fetchall()) for query in queries) for one in warehouses()]  # type: ignore[misc]
    except (duckdb.Error, SqlglotError):
        return None


def holds(direction: str, before: int, after: int) -> bool:
    """Whether the direction allows these numbers of rows."""
    return {
        "can_only_drop": after <= before,
        "can_only_add": after >= before,
        "can_multiply": after >= before and (after == 0) == (before == 0),
        "same_rows": after == before,
        "unknown": True,
    }[direction]


def named(changes: list[RowSetChange]) -> set[str]:
    return {f"{table}.{column}" for change in changes for table, column in change.columns}


@pytest.mark.parametrize("name", PAIRS)
def test_kinds_direction_and_columns_are_the_labelled_ones_and_hold_when_both_run(name: str) -> None:
    pair = PAIRS[name]
    changes = classify(pair.before, pair.after, pair.dialect)
    assert sorted(change.kind for change in changes) == pair.kinds
    assert combined(changes) == pair.direction
    assert named(changes) == pair.columns
    back = combined(classify(pair.after, pair.before, pair.dialect))
    for before, after in counts(name) or ():
        assert holds(combined(changes), before, after)
        assert holds(back, after, before), f"the way back is said to be {back}"


def same_base() -> list[tuple[str, str]]:
    """Pairs of the suite that change one query in one dialect, each with the next: from one change to the other."""
    by_base: dict[tuple[str, str], list[str]] = {}
    for name, pair in PAIRS.items():
        by_base.setdefault((pair.dialect, pair.before.strip()), []).append(name)
    return [neighbours for names in by_base.values() for neighbours in itertools.pairwise(names)]


def test_several_changes_together_never_contradict_what_both_queries_give() -> None:
    compared = same_base()
    assert len(compared) > 40
    for first, second in compared:
        ran = counts(first), counts(second)
        direction = combined(classify(PAIRS[first].after, PAIRS[second].after, PAIRS[first].dialect))
        for (_, before), (_, after) in zip(ran[0] or (), ran[1] or (), strict=False):
            assert holds(direction, before, after), (first, second, direction)


READERS = [
    "select {0} from q where {0} is not null", "select count(*) from q",
    "select {0}, count(*) as n from q group by {0}",
    "select distinct {0} from q", "select {0} from q group by {0} having count(*) < 2",
    "select s.name, q.{0} from raw.stores as s left join q on q.{0}::varchar = s.store_id::varchar",
    "select q.{0} from q left join raw.stores as s on q.{0}::varchar = s.store_id::varchar where s.region = 'emea'",
    "select s.name from raw.stores as s full join q on q.{0}::varchar = s.store_id::varchar",
    "select name from raw.stores where store_id::varchar not in (select {0}::varchar from q)",
    "select name from raw.stores except select {0}::varchar from q",
    "select * from q union select * from q", "select max({0}) from q having count(*) > 2",
    "select {0} from q qualify row_number() over (partition by {0} order by {1}) <= 2",
    "select * from (select *, row_number() over (partition by {0} order by {1}) as n from q) as z where n = 1",
    "select s.name from raw.stores as s left join q on q.{0}::varchar = s.store_id::varchar where q.{1} is null",
    "select s.name from raw.stores as s anti join q on q.{0}::varchar = s.store_id::varchar",
    "select a.{0} from q as a join q as b on a.{0} = b.{0}", "select distinct on ({0}) {0}, {1} from q order by {1}",
    "select {0} from (select {0}, count(*) over (partition by {0}) as k from q) as z where k = 1",
]  # fmt: skip


def columns_of(sql: str) -> list[str]:
    return [column[0].lower() for column in warehouses()[0].execute(sql).description or ()]


def test_a_change_seen_through_a_query_that_reads_it_never_contradicts_what_both_give() -> None:
    ran = 0
    for place, name in enumerate(name for name in PAIRS if counts(name) is not None):
        pair = PAIRS[name]
        inner = [sqlglot.transpile(sql, read=pair.dialect, write="duckdb")[0] for sql in (pair.before, pair.after)]
        names = [columns_of(sql) for sql in inner]
        shared = [column for column in names[0] if column in names[1]]
        if not shared:
            continue
        reader = READERS[place % len(READERS)].format(shared[0], shared[-1])
        queries = [f"with q as ({sql}) {reader}" for sql in inner]
        direction = combined(classify(queries[0], queries[1], "duckdb"))
        for one in warehouses():
            before, after = (len(one.execute(query).fetchall()) for query in queries)
            assert holds(direction, before, after), (name, reader, direction, before, after)
        ran += 1
    assert ran > 150


def test_a_hundred_changed_models_are_classified_within_two_seconds() -> None:
    chosen = list(PAIRS.values())[::2][:100]
    started = time.process_time()
    for pair in chosen:
        classify(pair.before, pair.after, pair.dialect)
    assert time.process_time() - started < 2


def test_the_suite_is_large_runs_almost_whole_and_leaves_little_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    directions = Counter(pair.direction for pair in PAIRS.values())
    dialects = Counter(pair.dialect for pair in PAIRS.values())
    not_run = [name for name in PAIRS if counts(name) is None]
    unknown_kinds = [name for name, pair in PAIRS.items() if "unknown" in pair.kinds]
    with capsys.disabled():
        print(f"\n{len(PAIRS)} pairs: {dict(directions)}; {dict(dialects)}; not run: {not_run}")  # noqa: T201
    assert len(PAIRS) >= 150
    assert set(dialects) == {"duckdb", "bigquery", "snowflake", "postgres", "databricks"}
    assert directions["unknown"] <= len(PAIRS) / 10
    assert len(unknown_kinds) <= len(PAIRS) / 10
    assert len(not_run) <= NOT_RUN
