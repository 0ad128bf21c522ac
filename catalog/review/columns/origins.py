"""What was counted further up: the NULLs of the column that a column of a condition is passed on from, as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sqlglot import exp

from catalog.column_lineage.values import IDENTITY
from catalog.lints import null_rows
from catalog.lints.known import held, of_fact
from catalog.lints.query import Query, read
from catalog.lints.types import CERTAIN, Facts, Finding, ModelState
from catalog.review.columns.traces import Traces
from catalog.review.estate.estate import Estate

MOST_STEPS = 10


class Origins:
    """Follows columns upward through one estate."""

    def __init__(self, estate: Estate, traces: Traces, facts: Facts) -> None:
        self._estate, self._traces, self._facts = estate, traces, facts

    def with_counts_from_above(self, found: Iterable[Finding], after: ModelState) -> Iterator[Finding]:
        """The findings, those of lost NULLs of which nothing was counted with what was counted further up.

        That is said and no more: rows may be left out on the way, so that it proves nothing of the column itself.
        """
        for finding in found:
            open_ = finding.rule == null_rows.RULE and finding.certainty != CERTAIN
            query = read(after) if open_ else None
            more = list(dict.fromkeys(self._counted(query, finding.place.text))) if query is not None else []
            yield replace(finding, evidence=(*more, *finding.evidence)) if more else finding

    def _counted(self, query: Query, text: str) -> Iterator[str]:
        for _, select in query.all:
            for part in query.filters(select):
                for column in part.find_all(exp.Column) if query.sql(part) == text else ():
                    below = held(query, column)
                    places, certain = self._estate.names.find(below.relation) if below.relation else ((), False)
                    if certain and self._facts.column(below.relation, below.column).nulls is None:
                        yield from self._above(places[0], below.column)

    def _above(self, place: int, name: str) -> Iterator[str]:
        first = name
        for _ in range(MOST_STEPS):
            step = self._passed_on(place, name)
            if step is None:
                return
            place, name = step
            node = self._estate.vertices[place].node
            fact = self._facts.column((node.relation_name if node is not None else "") or "", name)
            if fact.nulls is not None:
                said = f"{self._estate.vertices[place].label}.{name}, which {first} comes from,"
                yield of_fact(replace(fact, tested=False, nullable=None), said).sentence
                return

    def _passed_on(self, place: int, name: str) -> tuple[int, str] | None:
        """The table and the column that the model passes on as `name`, unchanged; None where it is made of more."""
        columns = self._traces.of(place).columns
        value = next((one for key, one in columns.items() if key.lower() == name.lower()), None)
        if value is None or value.kind != IDENTITY or len(value.sources) != 1:
            return None
        (source,) = value.sources
        above = [one for one in self._estate.parents[place] if self._traces.table(one) == source.table]
        return (above[0], source.column) if len(above) == 1 and source.column else None
