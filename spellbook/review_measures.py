"""NULLs that a review asks about and nobody knows: counted in the warehouse, one scan a table, then reviewed again."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final

from sqlglot import exp

from catalog.lints import null_rows
from catalog.lints.types import POSSIBLE, ColumnFact, Facts, KeyFact, bare
from catalog.models import Asset
from catalog.names import find_each
from catalog.review.moments import written
from catalog.review.types import Knowledge, Review
from catalog.selectors import Relation, relation
from catalog.warehouse_access import open_for
from catalog.warehouses.base import Warehouse
from foundation.errors import SpellbookError
from spellbook.review_inputs import Reviewed

log = logging.getLogger(__name__)

TABLES: Final = 10
COLUMNS: Final = 20
"""So many are counted for one review; of the others it goes on saying that nobody knows."""
TIMEOUT: Final = timedelta(seconds=30)
WHOLE: Final = timedelta(seconds=60)
"""So long all counts of one review may take, well within the lease of the pull request."""
LABEL: Final = "change_review"


def with_counts(known: Knowledge, reviewed: Reviewed) -> Review:
    """The review that `reviewed` makes of what is known, and of the NULLs that it would like to know and that can be
    counted now.

    Nothing is counted where no finding hangs on it. A table that cannot be asked is told in the notes.
    """
    return with_counts_or_not(known, reviewed)[0]


def with_counts_or_not(known: Knowledge, reviewed: Reviewed) -> tuple[Review, bool]:
    """As `with_counts`, and whether a table could not be asked."""
    asked = _Asked(known.facts)
    first = reviewed(replace(known, facts=asked))
    if not asked.unknown or not any(_hangs_on_nulls(first)):
        return first, False
    counted, problems = _counted(asked.unknown)
    second = reviewed(replace(known, facts=_Counted(known.facts, counted))) if counted else first
    return replace(second, notes=(*second.notes, *problems)), bool(problems)


def _hangs_on_nulls(review: Review) -> Iterator[bool]:
    for change in review.changes:
        yield from (one.rule == null_rows.RULE and one.certainty == POSSIBLE for one in change.findings)


class _Asked(Facts):
    """Facts that remember what was asked of them and is not known: the names of tables, each with its columns."""

    def __init__(self, given: Facts) -> None:
        super().__init__()
        self._given = given
        self.unknown: dict[str, dict[str, None]] = {}

    def column(self, relation: str, column: str) -> ColumnFact:
        fact = self._given.column(relation, column)
        if fact.nulls is None and not fact.tested and fact.nullable is not False:
            self.unknown.setdefault(relation, {})[column] = None
        return fact

    def keys(self, relation: str) -> tuple[KeyFact, ...]:
        return self._given.keys(relation)


class _Counted(Facts):
    """Facts with what was counted meanwhile."""

    def __init__(self, given: Facts, counted: Mapping[tuple[str, str], ColumnFact]) -> None:
        super().__init__()
        self._given, self._more = given, counted

    def column(self, relation: str, column: str) -> ColumnFact:
        fact, more = self._given.column(relation, column), self._more.get((relation, bare(column)))
        if more is None or fact.nulls is not None:
            return fact
        return replace(fact, nulls=more.nulls, rows=more.rows, measured_at=more.measured_at)

    def keys(self, relation: str) -> tuple[KeyFact, ...]:
        return self._given.keys(relation)


def _counted(unknown: Mapping[str, Mapping[str, None]]) -> tuple[dict[tuple[str, str], ColumnFact], list[str]]:
    """What could be counted, by the name that was asked for and the column, and why other tables could not be asked."""
    counted: dict[tuple[str, str], ColumnFact] = {}
    problems: list[str] = []
    until = time.monotonic() + WHOLE.total_seconds()
    for asset, asked in list(_tables(unknown).items())[:TABLES]:
        left = timedelta(seconds=until - time.monotonic())
        if left <= timedelta():
            problems.append(f"The NULLs of {asset.name} could not be counted: the time for it was over.")
            continue
        wanted = list(dict.fromkeys(bare(column) for name in asked for column in unknown[name]))[:COLUMNS]
        try:
            found = _nulls(asset, wanted, min(left, TIMEOUT))
        except SpellbookError as error:
            log.info("no NULLs of %s could be counted: %s", asset.pk, error)
            problems.append(f"The NULLs of {asset.name} could not be counted: {str(error).rstrip('.')}.")
            continue
        counted |= {(name, column): fact for name in asked for column, fact in found.items()}
    return counted, problems


def _tables(unknown: Mapping[str, object]) -> dict[Asset, list[str]]:
    """The tables that are known here, each with the names under which it was asked for."""
    found: dict[Asset, list[str]] = {}
    meant = find_each([bare(name) for name in unknown])
    for name in unknown:
        asset = meant[bare(name)]
        if isinstance(asset, Asset):
            found.setdefault(asset, []).append(name)
    return found


def _nulls(asset: Asset, columns: list[str], timeout: timedelta) -> dict[str, ColumnFact]:
    """The NULLs in each of `columns` (without case and quotes) that the table has; one query over all of them.

    Nothing where no connection reads the table. Raises what the warehouse raises.
    """
    table = relation(asset)
    if table is None:
        return {}
    warehouse = open_for(asset)
    told = {bare(one.name): one.name for one in warehouse.describe(table) or ()}
    exact = {column: told[column] for column in columns if column in told}
    if not exact:
        return {}
    rows = warehouse.select(_query(table, list(exact.values()), warehouse), label=LABEL, timeout=timeout, row_limit=1)
    total, *filled = rows.rows[0]
    when = written(rows.measured_at)
    return {
        column: ColumnFact(nulls=total - count, rows=total, measured_at=when)
        for column, count in zip(exact, filled, strict=True)
    }


def _query(table: Relation, columns: list[str], warehouse: Warehouse) -> str:
    """`SELECT COUNT(*), COUNT(column), ... FROM table`, as a tree: no name is pasted into text."""
    counts = [exp.Count(this=exp.column(exp.to_identifier(name, quoted=True))) for name in columns]
    return exp.select(exp.Count(this=exp.Star()), *counts).from_(table.tree()).sql(dialect=warehouse.dialect)
