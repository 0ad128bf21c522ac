"""`select distinct` added over a join that may multiply rows: what it merges is hidden, not mended."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catalog.diff.selects import sources_of
from catalog.lints.fan_out import joins_of
from catalog.lints.keys import Uniqueness
from catalog.lints.known import behind
from catalog.lints.query import Query, read
from catalog.lints.types import CERTAIN, LOOK, POSSIBLE, Facts, Finding, ModelState, Reader

RULE = "distinct-hides-fan-out"


def check(before: ModelState | None, after: ModelState, facts: Facts, readers: tuple[Reader, ...]) -> Iterator[Finding]:
    """SELECTs that got a DISTINCT and read, themselves or through CTEs, a join whose key is not known to be unique.

    Certain where the facts count keys with several rows. Not found where every such key is unique, where nothing is
    joined, and in a new model. No rewrite: which of the matches is meant is not clear.
    """
    old, new = read(before) if before is not None else None, read(after)
    if old is None or new is None:
        return
    for path, select in new.selects.by_path.items():
        earlier = old.selects.by_path.get(path)
        if earlier is None or earlier.args.get("distinct") or not select.args.get("distinct"):
            continue
        joined = list(_joins_below(new, select, facts, set()))
        if joined:
            join, known = next((one for one in joined if one[1].verdict == "no"), joined[0])
            certain = known.verdict == "no"
            sentence = (
                f"DISTINCT was added {'in ' + path if path else 'at the end'}; it merges the copies that the join of "
                f"{join.this.alias_or_name or 'another part'} {'makes' if certain else 'may make'}, and rows that only "
                "look alike."
            )
            place = new.place(next(iter(select.expressions), select), "select distinct")
            yield Finding(RULE, LOOK, place, sentence, (known.sentence,), None, CERTAIN if certain else POSSIBLE)


def _joins_below(
    query: Query, select: exp.Select, facts: Facts, seen: set[int]
) -> Iterator[tuple[exp.Join, Uniqueness]]:
    if id(select) in seen:
        return
    seen.add(id(select))
    yield from (found for found in joins_of(query, select, facts) if found[1].verdict in ("no", "unknown"))
    for source in sources_of(select):
        below = behind(query, source, select)
        for inner in below.find_all(exp.Select) if below is not None else ():
            yield from _joins_below(query, inner, facts, seen)
