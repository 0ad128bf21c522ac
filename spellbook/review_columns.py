"""What was measured or is told of columns and keys: the warehouse's types, rows that dbt's tests found wrong, NULLs
that a diagnosis counted. What a passing test says is left to the manifest: it may have looked at some rows only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

from django.db.models import OuterRef, Subquery

from catalog.lints.types import ColumnFact, KeyFact
from catalog.models import ColumnList
from catalog.review.moments import written
from catalog.selectors import assets_of_nodes
from foundation.bulk import among
from incidents.models import Cause, Check, Result

COUNTED: Final = 500
"""Causes that are looked through for counts, the newest first."""


class Measured(NamedTuple):
    """Rows in which something was so, of how many (None where that is not known), when."""

    asset: int
    column: str
    number: int
    rows: int | None
    at: datetime


def columns_of(tables: Mapping[int, str]) -> dict[tuple[str, str], ColumnFact]:
    """What is known of each column, by the name of its table and its own. Constant number of queries."""
    found: dict[tuple[str, str], ColumnFact] = {}
    lists = ColumnList.objects.filter(asset__in=among(list(tables))).values_list("asset_id", "items")
    for pk, items in lists:
        for one in items:
            found[tables[pk], one["name"]] = ColumnFact(nullable=one.get("nullable"), type=one.get("type") or "")
    for one in sorted([*_failed(tables, "not_null"), *_counted(tables)], key=lambda one: one.at):
        place = _spelled(found, tables[one.asset], one.column)
        fact = found.get(place, ColumnFact())
        found[place] = replace(fact, nulls=one.number, rows=one.rows, measured_at=written(one.at))
    return found


def keys_of(tables: Mapping[int, str]) -> dict[str, tuple[KeyFact, ...]]:
    """Columns that were found not to be a key, by the name of their table."""
    found: dict[str, list[KeyFact]] = defaultdict(list)
    for one in _failed(tables, "unique"):
        found[tables[one.asset]].append(KeyFact((one.column,), duplicates=one.number, measured_at=written(one.at)))
    return {name: tuple(keys) for name, keys in found.items()}


def _failed(tables: Mapping[int, str], kind: str) -> Iterator[Measured]:
    """The newest result of each such test of dbt, where it found rows."""
    newest = Result.objects.filter(check_run=OuterRef("pk")).exclude(status__in=("not_evaluated", "error"))
    checks = Check.objects.filter(asset__in=among(list(tables)), kind=kind, origin="dbt").exclude(column="")
    ids = checks.annotate(newest=Subquery(newest.order_by("-at", "-pk").values("pk")[:1])).values("newest")
    rows = Result.objects.filter(pk__in=ids).order_by("pk")
    for pk, column, observed, at in rows.values_list("check_run__asset_id", "check_run__column", "observed", "at"):
        number = observed.get("failures")
        if isinstance(number, int) and number > 0:
            yield Measured(pk, column, number, None, at)


def _counted(tables: Collection[int]) -> Iterator[Measured]:
    """NULLs that a diagnosis counted in a column with a name of dbt's."""
    causes = Cause.objects.filter(kind="code").order_by("-at").values_list("facts", "at")[:COUNTED]
    told = [(one, at) for facts, at in causes for one in facts.get("nulls") or () if one.get("unique_id")]
    assets = assets_of_nodes(sorted({one["unique_id"] for one, _ in told})) if told else {}
    for one, at in told:
        asset, nulls, total = assets.get(one["unique_id"]), _whole(one.get("nulls")), _whole(one.get("total"))
        if asset is not None and asset.pk in tables and nulls is not None:
            yield Measured(asset.pk, str(one.get("column", "")), nulls, total, at)


def _whole(text: object) -> int | None:
    return int(text) if isinstance(text, str) and text.isascii() and text.isdigit() else None


def _spelled(found: Mapping[tuple[str, str], ColumnFact], table: str, column: str) -> tuple[str, str]:
    """The column as the warehouse spells it, where it is known."""
    return next(
        (key for key in ((table, column), (table, column.lower()), (table, column.upper())) if key in found),
        (table, column),
    )
