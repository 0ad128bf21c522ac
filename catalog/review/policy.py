"""A team's own rules against the changes of a review: of both kinds, by manifests and by files."""

from __future__ import annotations

from collections.abc import Callable, Collection

from catalog.review.estate.names import Found
from catalog.review.types import Policy, Rule


class Rules:
    """The rules of `policy`, each with the places that it means; `find` gives those of a name.

    A rule is touched by a change of its table or of the tests of that, and where it means a reader, by a change that
    reaches it: by place and not by name, since readers of restricted domains share one, and others may. A rule that
    means nothing here is told in `notes`.
    """

    def __init__(self, policy: Policy, find: Callable[[str], Found]) -> None:
        self._rules: list[tuple[Rule, frozenset[int]]] = []
        self._touched: dict[str, None] = {}
        self.notes: list[str] = []
        for rule in policy.rules:
            places, _ = find(rule.asset)
            if not places:
                self.notes.append(f"the rule of {rule.asset} was not applied: no table here has this name")
            self._rules.append((rule, frozenset(places)))

    def touched(self, ruled: Collection[int]) -> list[str]:
        """A sentence for each rule that a change touches; `ruled` are its own places and those of its readers."""
        found = dict.fromkeys(_sentence(rule) for rule, places in self._rules if not places.isdisjoint(ruled))
        self._touched.update(found)
        return list(found)

    def required(self) -> tuple[str, ...]:
        """The sentences of all rules that were touched so far."""
        return tuple(self._touched)


def _sentence(rule: Rule) -> str:
    why = f": {rule.reason.rstrip('.')}" if rule.reason else ""
    return f"A change of {rule.asset} has to be acknowledged{why}."
