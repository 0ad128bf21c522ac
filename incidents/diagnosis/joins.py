"""The proof of a join: how often its keys occur, and the rows with it and without it, against the change of rows."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.diff.probe import join_multiplicity, key_multiplicity
from incidents.diagnosis.case import Case, Counts, Found, texts
from incidents.diagnosis.proof import Change, Proof
from incidents.diagnosis.relations import name_of


def prove(case: Case, change: Change) -> Proof | None:
    """Count the rows with and without a join; it holds when what it adds or drops is the table's change of rows."""
    good, bad = case.rows_at(change.asset, case.good), case.rows_at(change.asset, case.bad)
    query = join_multiplicity(change.after, change.row_set, case.dialect) if change.after else None
    if query is None or good is None or bad is None:
        return None
    counts = case.ask(query)
    added, excess = counts["rows_with"] - counts["rows_without"], bad - good
    room = case.leftover(change.asset, good, excess)
    holds = abs(excess) > case.tolerance(change.asset, good) and abs(added - excess) <= room
    numbers = texts(good=good, bad=bad, excess=excess, added=added, tolerance=room, **counts.numbers)
    proof = Found(
        "proof", _statement(case, change, counts, excess), query, numbers, "for" if holds else "against", 100, counts.at
    )
    row_set = change.row_set
    facts = {"proof": numbers, "relation": row_set.relation, "keys": list(row_set.keys)}
    return Proof(holds, _said(case, change, added), (proof, *_keys(case, change)), facts)


def _statement(case: Case, change: Change, counts: Counts, excess: int) -> str:
    return (
        f"{change.asset.name} has {counts['rows_with']:,} rows with the join to {_joined(case, change)}, without it "
        f"{counts['rows_without']:,}. Since the last good build the table changed by {excess:+,} rows."
    )


def _said(case: Case, change: Change, added: int) -> str:
    does = f"adds {added:,} rows" if added >= 0 else f"drops {-added:,} rows"
    return f"the join to {_joined(case, change)} {does}"


def _joined(case: Case, change: Change) -> str:
    return name_of(case.head, change.row_set.relation, case.dialect)


def _keys(case: Case, change: Change) -> Iterator[Found]:
    query = key_multiplicity(change.after or "", change.row_set, case.dialect)
    if query is None:
        return
    counts, keys = case.ask(query), ", ".join(change.row_set.keys)
    most = counts["max_rows_per_key"]
    statement = (
        f"{_joined(case, change)} has up to {most:,} rows for one {keys}; {counts['keys_with_several']:,} of "
        f"{counts['key_count']:,} keys occur more than once."
    )
    speaks = "for" if most > 1 else "neutral"
    yield Found("keys", statement, query, texts(**counts.numbers), speaks, 90, counts.at)
