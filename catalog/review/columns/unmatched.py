"""What is known of the columns of a condition that undoes an outer join: it drops their NULLs as well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sqlglot import exp

from catalog.lints import outer_join
from catalog.lints.known import held, of_fact, unquoted
from catalog.lints.query import Query, read
from catalog.lints.types import CERTAIN, DANGEROUS, ColumnFact, Facts, Finding, ModelState


def with_known_nulls(found: Iterable[Finding], after: ModelState, facts: Facts) -> Iterator[Finding]:
    """The findings, those of undone outer joins with what is known of NULLs in the columns that they compare.

    Dangerous where NULLs were counted. The condition that asks for no NULL in so many words is none of these.
    """
    for finding in found:
        query = read(after) if finding.rule == outer_join.RULE else None
        told = dict(_facts(query, finding.place.text, facts)) if query is not None else {}
        if not told:
            yield finding
            continue
        evidence = (*(of_fact(fact, name).sentence for name, fact in told.items()), *finding.evidence)
        certain = any(fact.nulls for fact in told.values())
        worse = replace(finding, severity=DANGEROUS, certainty=CERTAIN) if certain else finding
        yield replace(worse, evidence=evidence)


def _facts(query: Query, text: str, facts: Facts) -> Iterator[tuple[str, ColumnFact]]:
    for _, select in query.all:
        for part in query.filters(select):
            if query.sql(part) != text:
                continue
            for column in part.find_all(exp.Column):
                place = held(query, column)
                fact = facts.column(place.relation, place.column) if place.relation else ColumnFact()
                if place.unmatched and fact.nulls is not None:
                    yield f"{unquoted(place.relation)}.{place.column}", fact
