"""A join whose key is not known to be unique on the joined side: a row then comes once for each match."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from catalog.diff.joins import join_keys, join_kind
from catalog.lints.keys import Uniqueness, uniqueness
from catalog.lints.query import Query, brought, short
from catalog.lints.types import CERTAIN, DANGEROUS, INFO, LOOK, POSSIBLE, Facts, Finding, ModelState, Reader

RULE = "fan-out-join"
_KINDS = ("inner", "left", "right", "full", "cross")
_INNER_OR_LEFT = re.compile(r"^(?:INNER |LEFT |LEFT OUTER )?JOIN\b", re.IGNORECASE)
_SEVERITY = {"no": DANGEROUS, "unknown": LOOK, "measured_yes": INFO}


def check(before: ModelState | None, after: ModelState, facts: Facts, readers: tuple[Reader, ...]) -> Iterator[Finding]:
    """Joins that came or changed and may multiply rows.

    Certain where the facts count keys with several rows; possible where no unique test and no count is known; not
    found where a unique test, GROUP BY, DISTINCT or row_number() = 1 makes the key unique. Not known: whether the
    other side of a right or full join repeats. No rewrite: which of the matches is meant is not clear. An inner join
    that was a left one, or the other way round, repeats what it repeated before.
    """
    yield from brought(before, after, lambda query: of_query(query, facts), _repeating)


def _repeating(join: str) -> str:
    """The SQL of a join without what changes nothing in how often the rows of its left side come."""
    return _INNER_OR_LEFT.sub("JOIN", join)


def of_query(query: Query, facts: Facts) -> Iterator[Finding]:
    """The findings of every join in the query."""
    for _, select in query.all:
        for join, known in joins_of(query, select, facts):
            if known.verdict in _SEVERITY:
                yield _finding(query, join, known)


def joins_of(query: Query, select: exp.Select, facts: Facts) -> Iterator[tuple[exp.Join, Uniqueness]]:
    """Each join of `select` that could multiply rows, with what is known of its key."""
    for join in select.args.get("joins") or ():
        if join_kind(join) in _KINDS and not isinstance(join.this, exp.Unnest | exp.Lateral):
            yield join, uniqueness(query, join.this, select, join_keys(join), facts)


def _finding(query: Query, join: exp.Join, known: Uniqueness) -> Finding:
    keys, name = join_keys(join), join.this.alias_or_name or "the joined part"
    on = f"on {', '.join(keys)}" if keys else "without an equality of columns that can be told"
    certain = known.verdict == "no"
    sentence = f"The join of {name} {on} {'makes' if certain else 'may make'} rows come several times."
    place = query.place(join, short(query.sql(join)))
    return Finding(
        RULE, _SEVERITY[known.verdict], place, sentence, (known.sentence,), None, CERTAIN if certain else POSSIBLE
    )
