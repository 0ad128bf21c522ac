"""Random queries over small DuckDB tables, and what really changes in their answer when one column does."""

# ruff: noqa: S311, S608 -- the queries are random on purpose

from __future__ import annotations

import random
from collections.abc import Iterator

import duckdb

TABLES = {"t": ("a", "b", "c"), "u": ("a", "d", "e"), "w": ("c", "d", "f")}


def database() -> duckdb.DuckDBPyConnection:
    """The tables, full of small whole numbers, so that conditions split them and joins meet."""
    connection = duckdb.connect(":memory:", config={"threads": 1})  # or equal rows of a window come in any order
    dice = random.Random(7)
    for table, columns in TABLES.items():
        connection.execute(f"create table {table} ({', '.join(f'{name} integer' for name in columns)})")
        rows = [tuple(dice.randrange(5) for _ in columns) for _ in range(6)]
        connection.executemany(f"insert into {table} values ({', '.join('?' * len(columns))})", rows)
    return connection


def answers(connection: duckdb.DuckDBPyConnection, sql: str) -> dict[str, list[int | None]]:
    """Each output column of the query as the sorted list of its values."""
    cursor = connection.execute(sql)
    names = [one[0] for one in cursor.description or ()]
    rows = cursor.fetchall()
    return {
        name: sorted((row[place] for row in rows), key=lambda one: (one is None, one))
        for place, name in enumerate(names)
    }


def changed(
    connection: duckdb.DuckDBPyConnection, sql: str, table: str, column: str, before: dict[str, list[int | None]]
) -> set[str]:
    """The output columns that are other than `before` when all values of one column of one table are."""
    found: set[str] = set()
    for change in (f"(7 * {column} + 1) % 5", "3"):
        connection.execute(f"begin; update {table} set {column} = {change}")
        after = answers(connection, sql)
        connection.execute("rollback")
        found |= {name for name in before if before[name] != after[name]}
    return found


def ties_decide(connection: duckdb.DuckDBPyConnection, sql: str, before: dict[str, list[int | None]]) -> bool:
    """Whether the same rows in another order give another answer: a window over equal rows takes them as they come."""
    dice = random.Random(sql)
    for _ in range(20):
        connection.execute("begin")
        for table, columns in TABLES.items():
            rows = connection.execute(f"delete from {table} returning *").fetchall()
            dice.shuffle(rows)
            connection.executemany(f"insert into {table} values ({', '.join('?' * len(columns))})", rows)
        after = answers(connection, sql)
        connection.execute("rollback")
        if after != before:
            return True
    return False


class Query:
    """One random query, written by going down a grammar; `sql` is its text."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.names = iter(f"n{number}" for number in range(10_000))
        self.ctes: dict[str, list[str]] = {}
        written = []
        for _ in range(self.dice.randrange(3)):
            name = next(self.names)
            body, columns = self.select(2)
            self.ctes[name] = columns
            written.append(f"{name} as ({body})")
        body, _ = self.select(2)
        self.sql = ("with " + ", ".join(written) + " " if written else "") + body

    def select(self, depth: int) -> tuple[str, list[str]]:
        """A query and its columns."""
        if depth and self.dice.random() < 0.25:
            return self.union(depth - 1)
        text, sight = self.source(depth)
        for _ in range(self.dice.randrange(2)):
            more, columns = self.source(depth)
            kind, key = self.dice.choice(["join", "left join", "full join"]), (self.column(sight), self.column(columns))
            text, sight = f"{text} {kind} {more} on {key[0]} = {key[1]}", sight + columns
        where = f" where {self.condition(sight, depth)}" if self.dice.random() < 0.4 else ""
        return self.items(sight, depth, f" from {text}{where}")

    def union(self, depth: int) -> tuple[str, list[str]]:
        left, columns = self.select(depth)
        right, others = self.select(depth)
        count = min(len(columns), len(others))
        word = self.dice.choice(["union all", "union", "except", "intersect"])
        first = f"select {', '.join(columns[:count])} from ({left}) {next(self.names)}"
        return f"{first} {word} select {', '.join(others[:count])} from ({right}) {next(self.names)}", columns[:count]

    def source(self, depth: int) -> tuple[str, list[str]]:
        """Something for FROM under an alias, and its columns with it."""
        alias = next(self.names)
        if self.ctes and self.dice.random() < 0.5:
            name = self.dice.choice(list(self.ctes))
            return f"{name} {alias}", [f"{alias}.{one}" for one in self.ctes[name]]
        if depth and self.dice.random() < 0.4:
            body, columns = self.select(depth - 1)
            return f"({body}) {alias}", [f"{alias}.{one}" for one in columns]
        table = self.dice.choice(list(TABLES))
        return f"{table} {alias}", [f"{alias}.{one}" for one in TABLES[table]]

    def items(self, sight: list[str], depth: int, rest: str) -> tuple[str, list[str]]:
        names = [next(self.names) for _ in range(self.dice.randrange(1, 4))]
        if self.dice.random() < 0.3:
            keys = [self.column(sight) for _ in range(self.dice.randrange(2))]
            parts = [f"{key} as {name}" for key, name in zip(keys, names, strict=False)]
            parts += [f"{self.fold(sight)} as {name}" for name in names[len(parts) :]]
            return f"select {', '.join(parts)}{rest}{' group by ' + ', '.join(keys) if keys else ''}", names
        word = "distinct " if self.dice.random() < 0.15 else ""
        parts = [f"{self.expression(sight, depth)} as {name}" for name in names]
        return f"select {word}{', '.join(parts)}{rest}", names

    def expression(self, sight: list[str], depth: int) -> str:
        column, other = self.column(sight), self.column(sight)
        inner = self.dice.choice(list(TABLES))
        choices = [
            column, column, f"{column} + {other}", f"coalesce({column}, {other})", "1",
            f"cast({column} as varchar)::int",
            f"case when {self.condition(sight, 0)} then {column} else {other} end",
            f"sum({column}) over (partition by {other})", f"lag({column}) over (order by {other}, {column})",
            f"row_number() over (order by {column}, {other})",
        ]  # fmt: skip
        if depth:
            choices.append(f"(select max({TABLES[inner][1]}) from {inner} where {inner}.{TABLES[inner][0]} = {column})")
        return self.dice.choice(choices)

    def fold(self, sight: list[str]) -> str:
        column = self.column(sight)
        return self.dice.choice(
            [
                "count(*)",
                f"sum({column})",
                f"max({column} + 1)",
                f"count(distinct {column})",
                f"sum(1) filter (where {column} > 1)",
            ]
        )

    def condition(self, sight: list[str], depth: int) -> str:
        column, other = self.column(sight), self.column(sight)
        inner = self.dice.choice(list(TABLES))
        choices = [f"{column} > 1", f"{column} = {other}", f"{column} is null", f"not ({column} <> 2 and {other} < 4)"]
        if depth:
            choices.append(f"{column} in (select {TABLES[inner][2]} from {inner} where {TABLES[inner][0]} > 1)")
            choices.append(f"exists (select 1 from {inner} where {inner}.{TABLES[inner][1]} = {column})")
        return self.dice.choice(choices)

    def column(self, sight: list[str]) -> str:
        return self.dice.choice(sight)


def queries(first: int, count: int) -> Iterator[str]:
    """Queries of the seeds from `first` on."""
    for seed in range(first, first + count):
        yield Query(seed).sql
