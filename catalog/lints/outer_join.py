"""An outer join that WHERE turns into an inner one: the rows without a match are asked for, and then thrown away."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catalog.diff.null_safe import asks_not_null, null_safe_form
from catalog.diff.selects import sources_of, where_of
from catalog.lints.known import source_may_be_unmatched
from catalog.lints.query import Query, brought, short, table_of
from catalog.lints.types import CERTAIN, LOOK, Facts, Finding, ModelState, Reader

RULE = "outer-join-turned-inner"


def check(before: ModelState | None, after: ModelState, facts: Facts, readers: tuple[Reader, ...]) -> Iterator[Finding]:
    """Conditions of WHERE that cannot be TRUE where an outer joined relation has no match.

    Certain by the form of the query alone. How many rows are without a match is not known. `b.x is not null` says
    what it does and is not found. The null-safe form of the condition is offered where there is one.
    """
    yield from brought(before, after, _of_query)


def turned_inner(query: Query, select: exp.Select) -> Iterator[tuple[exp.Expr, str]]:
    """(condition, relation's name) of each WHERE condition that undoes an outer join of `select`."""
    optional = [source.alias_or_name for source in sources_of(select) if source_may_be_unmatched(select, source)]
    for part in where_of(select):
        columns = [column for column in part.find_all(exp.Column) if column.find_ancestor(exp.Select) is select]
        for name in optional:
            theirs = frozenset(
                query.name(column) for column in columns if table_of(column, select).lower() == name.lower()
            )
            if theirs and not asks_not_null(part) and query.never_true([part], theirs):
                yield part, name


def _of_query(query: Query) -> Iterator[Finding]:
    for _, select in query.all:
        for part, name in turned_inner(query, select):
            text = query.sql(part)
            sentence = (
                f"The outer join of {name} works as an inner one: ({short(text)}) is never TRUE for a row without a "
                f"match in {name}, so these rows are dropped."
            )
            evidence = (f"not known how many rows have no match in {name}",)
            rewrite = null_safe_form(text, query.dialect)
            yield Finding(RULE, LOOK, query.place(part), sentence, evidence, rewrite, CERTAIN)
