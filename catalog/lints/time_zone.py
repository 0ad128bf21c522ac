"""A day taken of an instant without saying in which zone: it is the session's (in BigQuery UTC's), not the reader's."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catalog.lints.known import type_of
from catalog.lints.query import Query, brought, short
from catalog.lints.types import CERTAIN, INFO, LOOK, POSSIBLE, Facts, Finding, ModelState, Reader

RULE = "day-without-zone"
_TRUNCATIONS = (exp.TimestampTrunc, exp.DateTrunc, exp.DatetimeTrunc, exp.Date, exp.TsOrDsToDate, exp.Cast)
_UNITS = ("DAY", "WEEK", "ISOWEEK", "MONTH", "QUARTER", "YEAR", "ISOYEAR")
_WITH_ZONE = ("timestamptz", "timestamp with time zone", "timestamp_tz", "timestamp_ltz", "timestampltz",
              "timestamp with local time zone", "datetimeoffset")  # fmt: skip
_INSTANT = ("bigquery", "databricks", "spark")
"""Dialects whose plain `timestamp` is an instant."""
_ZONED_TYPES = (exp.DataType.Type.TIMESTAMPTZ, exp.DataType.Type.TIMESTAMPLTZ)
ZONED, PLAIN, UNKNOWN = "zoned", "plain", "unknown"


def check(before: ModelState | None, after: ModelState, facts: Facts, readers: tuple[Reader, ...]) -> Iterator[Finding]:
    """Truncations to a day or more, and casts to date, that came or changed.

    Certain where the value carries a zone by its form or by the type in the facts, possible (for information) where
    the type of the column is not known. Not found: a type without zone, a zone that is named (`at time zone`,
    `convert_timezone`, the zone argument), units below a day. No rewrite: the zone that is meant is not known.
    """
    yield from brought(before, after, lambda query: _of_query(query, facts))


def _of_query(query: Query, facts: Facts) -> Iterator[Finding]:
    for node in query.selects.tree.find_all(*_TRUNCATIONS):
        kind = _kind(query, node.this, facts) if _takes_a_day(node) and not node.args.get("zone") else PLAIN
        if kind == PLAIN:
            continue
        text, certain = query.sql(node), kind == ZONED
        zone = "UTC's" if query.dialect == "bigquery" else "the session's"
        sentence = f"({short(text)}) takes {zone} day of an instant" + (
            "." if certain else ", if the value carries a zone."
        )
        evidence = () if certain else (f"not known whether {query.sql(node.this)} carries a time zone",)
        yield Finding(
            RULE,
            LOOK if certain else INFO,
            query.place(node),
            sentence,
            evidence,
            None,
            CERTAIN if certain else POSSIBLE,
        )


def _takes_a_day(node: exp.Expr) -> bool:
    if isinstance(node, exp.Cast):
        return bool(node.to.is_type("date")) and not isinstance(node.this, _TRUNCATIONS)
    if isinstance(node, exp.Date):
        return not node.expressions
    unit = node.args.get("unit")
    return unit is None or unit.name.upper().split("(")[0] in _UNITS


def _kind(query: Query, value: exp.Expr, facts: Facts) -> str:
    inner = value.unnest()
    if isinstance(inner, exp.CurrentTimestamp):
        return ZONED
    if isinstance(inner, exp.Cast):
        return ZONED if inner.to.this in _ZONED_TYPES else PLAIN
    if not isinstance(inner, exp.Column):
        return PLAIN
    named = type_of(query, inner, facts)
    if not named:
        return UNKNOWN
    zoned = any(named.startswith(word) for word in _WITH_ZONE) or ("with" in named and "time zone" in named)
    without = "without" in named or "ntz" in named
    instant = query.dialect in _INSTANT and named.startswith("timestamp")
    return ZONED if (zoned or instant) and not without else PLAIN
