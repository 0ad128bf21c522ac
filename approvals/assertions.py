"""What an assertion asks the warehouse, and how the answer is read; used by rehearsal and by verification alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlglot import exp

from approvals.models import Assertion
from catalog.selectors import relation
from catalog.warehouses.base import Missing, Relation, TableMissing, Warehouse
from foundation.clock import now
from foundation.errors import SpellbookError

TIMEOUT = timedelta(minutes=2)
Params = Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """True, False, or None with the reason why it could not be told; `observed` holds counts as text."""

    passed: bool | None
    observed: dict[str, str]
    query: str
    reason: str
    measured_at: datetime


def ask_warehouse(assertion: Assertion, warehouse: Warehouse) -> Answer:
    """Run one assertion's query; a missing table, a lock or a timeout is an answer that says so, never a pass (D7)."""
    table = relation(assertion.asset)
    if table is None:
        return Answer(None, {}, "", "the table has no known place in a warehouse", now())
    kind = KINDS[assertion.kind]
    query = kind.query(table, assertion.params).sql(dialect=warehouse.dialect)
    try:
        rows = warehouse.select(query, label=f"assertion-{assertion.pk}", timeout=TIMEOUT, row_limit=1)
    except TableMissing:
        return Answer(None, {}, query, str(Missing(table)), now())
    except SpellbookError as error:
        return Answer(None, {}, query, str(error), now())
    observed = {name: str(cell) for name, cell in zip(rows.columns, rows.rows[0], strict=True)}
    return Answer(kind.holds(observed["n"], assertion.params), observed, query, "", rows.measured_at)


@dataclass(frozen=True)
class Kind:
    """One kind of assertion: its query (one row, one count `n`), and when that count satisfies it."""

    query: Callable[[Relation, Params], exp.Select]
    holds: Callable[[str, Params], bool]


def _rows(table: Relation, params: Params) -> exp.Select:
    return exp.select(_count()).from_(table.tree())


def _nulls(table: Relation, params: Params) -> exp.Select:
    return _rows(table, params).where(_column(params).is_(exp.null()))


def _repeated(table: Relation, params: Params) -> exp.Select:
    """How many values stand in more than one row; NULL is no value."""
    column, several = _column(params), exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))
    repeated = exp.select(column).from_(table.tree()).where(exp.Not(this=column.is_(exp.null())))
    return exp.select(_count()).from_(repeated.group_by(column).having(several).subquery("repeated"))


def _count() -> exp.Expr:
    return exp.alias_(exp.Count(this=exp.Star()), "n")


def _column(params: Params) -> exp.Column:
    return exp.column(exp.to_identifier(params["column"], quoted=True))


def _is_zero(n: str, params: Params) -> bool:
    return n == "0"


KINDS: dict[str, Kind] = {
    "row_count": Kind(_rows, lambda n, params: n == params["equals"]),
    "no_nulls": Kind(_nulls, _is_zero),
    "unique": Kind(_repeated, _is_zero),
    "readable": Kind(_rows, lambda n, params: True),
}
