"""Makes the case of each changed node: its rows, findings, reach and readers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from catalog.diff.jinja import without_jinja
from catalog.diff.manifests import ManifestDiff
from catalog.diff.row_set import RowSetChange, classify, combined
from catalog.review.case import ADDED, CODE_KINDS, MODIFIED, REMOVED, RENAMED, Case
from catalog.review.columns.traces import Traces
from catalog.review.config import config_changes
from catalog.review.cosmetics import doubt_of_form
from catalog.review.estate.estate import Estate, Vertex
from catalog.review.facts import KnownFacts
from catalog.review.following import Following
from catalog.review.linting import Linting
from catalog.review.safely import safely
from catalog.review.states import Sides, States
from catalog.review.types import Knowledge
from catalog.review.verdict import WORDS_ALONE
from catalog.sources.manifest_types import Manifest, Node

_REBUILT = CODE_KINDS | {"seed", "relation"}
"""Kinds of change after which a table may hold other values than were measured."""


class Cases:
    """All that the cases of one review share."""

    def __init__(
        self, base: Manifest, head: Manifest, knowledge: Knowledge, at: datetime, difference: ManifestDiff
    ) -> None:
        self.base: Mapping[str, Node] = {**base.nodes, **base.others}
        self.head: Mapping[str, Node] = {**head.nodes, **head.others}
        self.estate = Estate(base, head, knowledge)
        changed = [one.unique_id for one in difference.modified if set(one.changes) & _REBUILT]
        self.facts = KnownFacts(knowledge.facts, self.estate, base, head, changed)
        self.states = States(base, head)
        self._traces = Traces(self.estate, base, head)
        self._following = Following(self.estate, self._traces, self.base, self.states.dialect, at)
        self._linting = Linting(self.estate, self._traces, self.facts)

    def modified(self, key: str, kinds: tuple[str, ...], row_set: tuple[RowSetChange, ...]) -> Case:
        """A node that both manifests have."""
        before, after = self.base[key], self.head[key]
        case = Case(key, MODIFIED, before, after, self._vertex(key, after), kinds=kinds, row_set=row_set)
        case.config = config_changes(before, after) if "config" in kinds else ()
        self._look(case, moved="relation" in kinds)
        return case

    def added(self, key: str) -> Case:
        """A node that is new."""
        case = Case(key, ADDED, None, self.head[key], self._vertex(key, self.head[key]))
        self._look(case, moved=False)
        return case

    def removed(self, key: str) -> Case:
        """A node that is gone."""
        node = self.base[key]
        case = Case(key, REMOVED, node, None, self._vertex(key, node))
        self._following.follow(case, self.estate.place(key))
        case.still_read_by = self._still_read_by(key)
        return case

    def renamed(self, was: str, key: str) -> Case:
        """A node that has another id; what reads it by the old name is broken where the table has another name too."""
        before, after = self.base.get(was), self.head.get(key)
        node = after or before
        if node is None:
            raise KeyError(key)
        case = Case(key, RENAMED, before, after, self._vertex(key, node), was=was)
        old, new = self.estate.place(was), self.estate.place(key)
        case.moved = old != new
        self._classify(case)
        self._look(case, moved=False)
        if case.moved:
            self._following.follow(case, old, new)
        case.still_read_by = self._still_read_by(was)
        return case

    def _classify(self, case: Case) -> None:
        """What the change of name does to the rows, when the code is another one too."""
        before, after = case.before, case.after
        sides = self.states.of(before, after, moved=False) if before is not None and after is not None else None
        if sides is not None and sides.before is not None and before is not None and after is not None:
            case.kinds = ("body",) if before.raw_code != after.raw_code else ()
            basis = "compiled" if sides.compiled else "raw"
            texts = [without_jinja(one.sql) for one in (sides.before, sides.after)]
            case.row_set = tuple(classify(texts[0], texts[1], self.states.dialect, basis)) if case.kinds else ()

    def notes(self) -> Iterator[str]:
        """What was not looked at, and what could not be followed."""
        yield from self.estate.untold.sentences()
        yield from self._linting.notes()
        yield from self._following.notes()

    def _vertex(self, key: str, node: Node) -> Vertex:
        place = self.estate.place(key)
        return self.estate.vertices[place] if place is not None else Vertex(node.name, node.kind, node)

    def _look(self, case: Case, *, moved: bool) -> None:
        before, after = case.before, case.after
        if after is None:
            return
        touches = case.action != MODIFIED or bool(set(case.kinds) - WORDS_ALONE)
        sides = self.states.of(before, after, moved=moved) if touches else None
        case.sides = sides
        case.direction = combined(case.row_set) if set(case.kinds) & CODE_KINDS else ""
        place = self.estate.place(case.unique_id)
        affected = self._following.affected(case, sides, place)
        self._following.follow(case, place, affected=affected)
        if sides is not None:
            case.findings = self._linting.found(sides, place)
        if before is not None and sides is not None and set(case.kinds) & CODE_KINDS:
            self._form(case, before, after, sides)

    def _form(self, case: Case, before: Node, after: Node, sides: Sides) -> None:
        if case.row_set:
            return
        case.doubt = safely(
            lambda: doubt_of_form(before, after, self.states.dialect, compiled=sides.compiled),
            "its text could not be compared",
        )
        case.cosmetic = not case.doubt

    def _still_read_by(self, key: str) -> tuple[str, ...]:
        return tuple(sorted(node.name for node in self.head.values() if key in node.depends_on and not node.external))
