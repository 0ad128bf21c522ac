"""From the rows of one SELECT to the rows of the whole query: a change is followed up to the last SELECT."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from catalog.diff import through
from catalog.diff.effect import LOST, NOTHING, Effect, told
from catalog.diff.scopes import Scopes
from catalog.diff.set_operations import through_operators
from catalog.diff.stages import Stage
from catalog.diff.through import Inside


@dataclass(frozen=True)
class Step:
    """One change on its way: what it does in the SELECT or set operation at `path`, from `stage` of it on.

    `joins` is the name under which it joins a relation that the SELECT did not have, `among` that of any join.
    """

    path: str
    effect: Effect
    stage: Stage
    among: str = ""
    joins: str = ""


def of_steps(before: Scopes, after: Scopes, steps: Iterable[Step]) -> str:
    """What `steps`, one after another, do to the number of rows of the query.

    The order: readers before what they read; in a SELECT first the joins that are new, through its old clauses, which
    know nothing of them; then what comes late, then what comes early. So every other step meets the new clauses.
    """
    return told(_Walk(before, after, list(steps)).of("").direction)


class _Walk:
    def __init__(self, before: Scopes, after: Scopes, steps: list[Step]) -> None:
        self.before, self.scopes, self.steps = before, after, steps
        self.known: dict[str, Effect] = {}
        self.open: set[str] = set()
        self.reads_itself: set[str] = set()

    def of(self, path: str) -> Effect:
        """What the steps do to the rows of the query at `path`."""
        if path in self.known:
            return self.known[path]
        if path in self.open:
            self.reads_itself.add(path)
            return NOTHING
        self.open.add(path)
        found = self._of(path)
        self.open.discard(path)
        if found and path in self.reads_itself:
            found = LOST
        self.known[path] = found
        return found

    def _of(self, path: str) -> Effect:
        query = self.scopes.query
        found = NOTHING
        own = [step for step in self.steps if step.path == path]
        for step in own:
            if step.stage is Stage.DONE:
                found = found.then(step.effect)
        if path in query.unions:
            branches = [self.of(f"{path}[{number}]") for number in range(len(query.unions[path]) + 1)]
            found = found.then(through_operators(query, path, branches))
        elif path in query.by_path:
            found = found.then(self._of_select(path, [step for step in own if step.stage is not Stage.DONE]))
        for wrapper in self.scopes.wrappers.get(path, ()):
            found = through.through_limit(wrapper, found)
        return found

    def _of_select(self, path: str, steps: list[Step]) -> Effect:
        inside = Inside(self.scopes, path)
        found = NOTHING
        for step in sorted(steps, key=lambda step: -step.stage):
            found = found.then(self._joined(inside, step) if step.joins else self._onward(inside, step))
        if any(self.of(other) for other in self.scopes.read_in_expressions(path)):
            return LOST
        for place, behind in enumerate(self.scopes.sources(path)):
            effect = self.of(behind) if behind is not None else NOTHING
            if effect:
                found = found.then(inside.from_source(place, effect))
        return found

    def _onward(self, inside: Inside, step: Step) -> Effect:
        return inside.onward(step.effect, step.stage, step.among)

    def _joined(self, inside: Inside, step: Step) -> Effect:
        """A new join through the old clauses; what the list takes from it has other values than before."""
        old = Inside(self.before, step.path)
        return self._onward(old, step).then(Effect(columns=inside.items_of(step.joins)))
