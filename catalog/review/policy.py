"""A team's own rules against the changes of a review."""

from __future__ import annotations

from collections.abc import Iterable

from catalog.review.case import Case
from catalog.review.estate.estate import Estate
from catalog.review.types import Policy, Rule


class Rules:
    """The rules of `policy`, found among the tables and readers of an estate.

    A rule of a table is touched by a change of that table itself or of its tests; a rule of a reader by a change that
    reaches it. A rule that means nothing here is told in `notes`.
    """

    def __init__(self, policy: Policy, estate: Estate) -> None:
        self._estate = estate
        self._rules: list[tuple[Rule, frozenset[int]]] = []
        self._touched: dict[str, None] = {}
        self.notes: list[str] = []
        for rule in policy.rules:
            places, _ = estate.names.find(rule.asset)
            if not places:
                self.notes.append(f"the rule of {rule.asset} was not applied: no table here has this name")
            self._rules.append((rule, frozenset(places)))

    def touched(self, case: Case) -> list[str]:
        """A sentence for each rule that the change touches."""
        own = {self._estate.place(key) for key in (case.unique_id, case.was) if key}
        return self._told(rule for rule, places in self._rules if places & own or self._reaches(case, places))

    def of_table(self, unique_id: str) -> list[str]:
        """A sentence for each rule of the table with this id, of which a test changed."""
        place = self._estate.place(unique_id)
        return self._told(rule for rule, places in self._rules if place in places)

    def required(self) -> tuple[str, ...]:
        """The sentences of all rules that were touched so far."""
        return tuple(self._touched)

    def _told(self, rules: Iterable[Rule]) -> list[str]:
        sentences = [_sentence(rule) for rule in rules]
        self._touched.update(dict.fromkeys(sentences))
        return sentences

    def _reaches(self, case: Case, places: frozenset[int]) -> bool:
        readers = {self._estate.vertices[place].label for place in places if self._estate.vertices[place].reader}
        return any(one.name in readers for one in case.readers)


def _sentence(rule: Rule) -> str:
    why = f": {rule.reason}" if rule.reason else ""
    return f"A change of {rule.asset} has to be acknowledged{why}."
