"""Incremental models: rows that are written twice, and rows of earlier runs that a change does not reach."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from catalog.diff.same import key
from catalog.lints.keys import of_facts
from catalog.lints.query import Query, read, short
from catalog.lints.types import CERTAIN, DANGEROUS, LOOK, POSSIBLE, Facts, Finding, ModelState, Place, Reader, bare

NO_KEY, FILTER, KEY = "incremental-without-key", "incremental-filter-changed", "unique-key-changed"
_REPLACES = ("insert_overwrite", "microbatch")
"""Strategies that replace whole parts of the table and need no key."""
_KEYED = ("incremental", "snapshot")
_JINJA = re.compile(r"\{[{%].*?[}%]\}", re.DOTALL)
_CALL = re.compile(r"([A-Za-z_][\w.]*)\s*\(")
_THIS = re.compile(r"\bthis\b")
_PLAIN = frozenset({"config", "ref", "source", "var"})
"""What a model calls without choosing its rows by it."""


def without_key(
    before: ModelState | None, after: ModelState, facts: Facts, readers: tuple[Reader, ...]
) -> Iterator[Finding]:
    """A model that becomes an incremental one without unique_key: a row read in two runs is written twice.

    Dangerous where its own text asks nowhere whether the run is an incremental one, so that each run reads everything;
    possible all the same, since what it reads may hold new rows only. Otherwise it is not known whether a run reads
    rows of an earlier one. Not found for the strategies that replace whole partitions and for `append`, which says that
    rows are only added.
    """
    if not _has_no_key(after) or (before is not None and _has_no_key(before) and _chooses(before) <= _chooses(after)):
        return
    if not _chooses(after):
        sentence = f"The incremental model {after.name} has no unique_key and no is_incremental(): each run adds the "
        sentence += "whole of its query to the table again."
        evidence = ("not known whether what it reads holds rows of earlier runs",)
        yield Finding(NO_KEY, DANGEROUS, _config_place(after, "incremental"), sentence, evidence, None, POSSIBLE)
    else:
        sentence = f"The incremental model {after.name} has no unique_key: a row that two runs read is written twice."
        evidence = ("not known whether a run reads rows that an earlier one has written",)
        yield Finding(NO_KEY, LOOK, _config_place(after, "incremental"), sentence, evidence, None, POSSIBLE)


def filter_changed(
    before: ModelState | None, after: ModelState, facts: Facts, readers: tuple[Reader, ...]
) -> Iterator[Finding]:
    """A condition of an incremental model that came, went or changed: rows of earlier runs stay as they were chosen.

    The raw text is compared where both sides have it, so that conditions under `is_incremental()` are seen; else the
    compiled SQL, in which they may be missing. Not known: whether a full refresh follows.
    """
    if before is None or not before.materialized == after.materialized == "incremental" or after.full_refresh:
        return
    pair = _readable(before, after)
    if pair is None:
        return
    old, new = pair
    came, gone = _missing(new, old), _missing(old, new)
    if came or gone:
        said = f"{_said(old, gone)} became {_said(new, came)}"
        sentence = f"A filter of the incremental model {after.name} changed ({said}); earlier runs kept to the old one."
        evidence = ("not known whether the table is built anew with --full-refresh after the merge",)
        place = new.place(came[0]) if came else Place()
        yield Finding(FILTER, LOOK, place, sentence, evidence, None, CERTAIN)


def key_changed(
    before: ModelState | None, after: ModelState, facts: Facts, readers: tuple[Reader, ...]
) -> Iterator[Finding]:
    """Another unique_key on an incremental model or snapshot: rows written under the old key are not found again.

    Dangerous where keys with several rows are counted in the table, or where the key is dropped.
    """
    if before is None or before.materialized != after.materialized or after.materialized not in _KEYED:
        return
    old, new = (frozenset(map(bare, model.unique_key)) for model in (before, after))
    if not old or old == new:
        return
    known = of_facts(after.relation or after.name, new, facts) if new else None
    words = f"({', '.join(before.unique_key)}) to {'(' + ', '.join(after.unique_key) + ')' if new else 'none'}"
    sentence = (
        f"The unique_key of {after.name} changed from {words}: rows that are there already are matched by the new one."
    )
    evidence = (known.sentence,) if known else ("without a key no row is matched, all are added",)
    severity = DANGEROUS if known is None or known.verdict == "no" else LOOK
    yield Finding(KEY, severity, _config_place(after, "unique_key"), sentence, evidence, None, CERTAIN)


def _has_no_key(model: ModelState) -> bool:
    explicit = model.strategy.lower() in (*_REPLACES, "append")
    return model.materialized == "incremental" and not model.unique_key and not explicit


def _chooses(model: ModelState) -> bool:
    """Whether its text may choose rows by what is in the table already; so too where that cannot be seen."""
    calls = {name for part in _JINJA.findall(model.raw) for name in _CALL.findall(part)}
    return not model.raw or bool(calls - _PLAIN) or bool(_THIS.search(" ".join(_JINJA.findall(model.raw))))


def _readable(before: ModelState, after: ModelState) -> tuple[Query, Query] | None:
    """Both sides as raw text where both can be read so, else as compiled; None where neither can."""
    for sides in (
        [replace(one, sql=one.raw, raw="") for one in (before, after) if one.raw],
        [before, after],
    ):
        queries = [query for one in sides if (query := read(one)) is not None]
        if len(queries) == 2:
            return queries[0], queries[1]
    return None


def _missing(query: Query, other: Query) -> list[exp.Expr]:
    """The conditions of `query` that `other` lacks, counted as often as they stand there."""
    left = Counter(key(part, other.dialect) for part in _conditions(other))
    missing = []
    for part in _conditions(query):
        left[key(part, query.dialect)] -= 1
        missing += [part] if left[key(part, query.dialect)] < 0 else []
    return missing


def _conditions(query: Query) -> list[exp.Expr]:
    return [part for _, select in query.all for part in query.filters(select)]


def _said(query: Query, parts: list[exp.Expr]) -> str:
    return short(" and ".join(f"({query.sql(part)})" for part in parts)) or "no condition"


def _config_place(model: ModelState, word: str) -> Place:
    lines = (model.raw or model.sql).split("\n")
    found = [number for number, line in enumerate(lines, 1) if word in line]
    return Place(found[0] if len(found) == 1 else None, word)
