"""The proof of an added filter: the rows it removes, split by false and NULL, against the rows that are missing."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.diff.null_safe import why_nulls_vanish
from catalog.diff.probe import filter_split, null_count
from incidents.diagnosis.case import Case, Counts, Found, texts
from incidents.diagnosis.proof import Change, Proof
from incidents.diagnosis.relations import node_of


def prove(case: Case, change: Change) -> Proof | None:
    """Count what the predicate removes; it holds when that and the missing rows are the same but for a small rest."""
    good, bad = case.rows_at(change.asset, case.good), case.rows_at(change.asset, case.bad)
    query = filter_split(change.after, change.row_set, case.dialect) if change.after else None
    if query is None or good is None or bad is None:
        return None
    split = case.ask(query)
    removed, missing = split["removed_false"] + split["removed_null"], good - bad
    room = case.leftover(change.asset, good, missing)
    holds = missing > 0 and abs(removed - missing) <= room
    numbers = texts(good=good, bad=bad, missing=missing, removed=removed, tolerance=room, **split.numbers)
    proof = Found(
        "proof", _statement(change, split, missing), query, numbers, "for" if holds else "against", 100, split.at
    )
    nulls = list(_nulls(case, change))
    why = why_nulls_vanish(change.row_set.predicate, case.dialect) if split["removed_null"] else None
    facts = {"proof": numbers, "nulls": [found.result for found in nulls], "why": why.sentence if why else ""}
    return Proof(holds, _said(change, split), (proof, *nulls), facts)


def _statement(change: Change, split: Counts, missing: int) -> str:
    removed = split["removed_false"] + split["removed_null"]
    return (
        f"The filter ({change.row_set.predicate}) in {change.asset.name} removes {removed:,} of {split['total']:,} "
        f"rows: {split['removed_null']:,} where it is NULL, {split['removed_false']:,} where it is false. "
        f"Since the last good build {_lost(missing)}."
    )


def _lost(missing: int) -> str:
    return f"{missing:,} rows are missing" if missing >= 0 else f"{-missing:,} rows have come, none are missing"


def _said(change: Change, split: Counts) -> str:
    removed = split["removed_false"] + split["removed_null"]
    unknown = f", {split['removed_null']:,} of them only because it is NULL there" if split["removed_null"] else ""
    return f"the added filter ({change.row_set.predicate}) removes {removed:,} rows{unknown}"


def _nulls(case: Case, change: Change) -> Iterator[Found]:
    """The NULLs of each column that the predicate hangs on, in the table where it comes from."""
    for table, column, query in null_count(change.after or "", change.row_set, case.dialect):
        counts, node = case.ask(query), node_of(case.head, table, case.dialect)
        name = node.name if node else table
        statement = f"{name}.{column} is NULL in {counts['nulls']:,} of {counts['total']:,} rows."
        result = {"relation": table, "column": column, "unique_id": node.unique_id if node else ""}
        speaks = "for" if counts["nulls"] else "against"
        yield Found("nulls", statement, query, result | texts(**counts.numbers), speaks, 90, counts.at)
