"""Makes the case of each changed node: its rows, findings, reach and readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime

from catalog.diff.jinja import without_jinja
from catalog.diff.manifests import ManifestDiff
from catalog.diff.row_set import RowSetChange, classify, combined
from catalog.diff.row_set_types import SAME_ROWS
from catalog.diff.selects import MAX_CHARACTERS
from catalog.lints.outputs import removed
from catalog.lints.registry import findings
from catalog.lints.types import Finding, Reader
from catalog.review.case import ADDED, MODIFIED, NEAREST, REMOVED, RENAMED, Case
from catalog.review.columns.column_reach import Affected, ColumnReach, read_of
from catalog.review.columns.confined import only_columns
from catalog.review.columns.dependent import Columns
from catalog.review.columns.origins import Origins
from catalog.review.columns.traces import Traces
from catalog.review.config import config_changes
from catalog.review.cosmetics import doubt_of_form
from catalog.review.estate.estate import Estate, Vertex, Way, shown
from catalog.review.estate.names import joined
from catalog.review.estate.reached import Clock, reached
from catalog.review.estate.unmatched import with_counts
from catalog.review.facts import KnownFacts
from catalog.review.safely import safely, unread
from catalog.review.states import Sides, States
from catalog.review.types import Knowledge
from catalog.review.verdict import COSMETIC
from catalog.sources.manifest_types import Manifest, Node

MOST_LINTED = 1_000_000
"""So many characters of SQL are looked through in one review, which takes some ten seconds; the rest is said."""
_CODE = frozenset({"body", "macro", "compiled"})
_REBUILT = _CODE | {"seed", "relation"}
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
        self.traces = Traces(self.estate, base, head)
        self.columns = ColumnReach(self.estate, self.traces)
        self.origins = Origins(self.estate, self.traces, self.facts)
        self._clock = Clock(at)
        self._left, self._not_linted, self._untold = MOST_LINTED, 0, set[str]()

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
        self._follow(case, self.estate.place(key))
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
            self._follow(case, old, new)
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
        if self._not_linted:
            yield f"{self._not_linted:,} changed models were not looked through for lost rows: there is too much SQL"
        if self.traces.skipped:
            yield f"columns were not followed through {joined(self.traces.skipped)}: there is too much SQL"
        elif self._untold:
            yield (
                f"columns could not be followed through {joined(sorted(self._untold))}: "
                "what these feed counts as reached"
            )

    def _vertex(self, key: str, node: Node) -> Vertex:
        place = self.estate.place(key)
        return self.estate.vertices[place] if place is not None else Vertex(node.name, node.kind, node)

    def _look(self, case: Case, *, moved: bool) -> None:
        before, after = case.before, case.after
        if after is None:
            return
        touches = case.action != MODIFIED or bool(set(case.kinds) - COSMETIC)
        sides = self.states.of(before, after, moved=moved) if touches else None
        case.sides = sides
        case.direction = combined(case.row_set) if set(case.kinds) & _CODE else ""
        place = self.estate.place(case.unique_id)
        affected = self._affected(case, sides, place)
        self._follow(case, place, affected=affected)
        if sides is not None:
            case.findings = self._lint(sides, place, case)
        if before is not None and sides is not None and set(case.kinds) & _CODE:
            self._form(case, before, after, sides)

    def _form(self, case: Case, before: Node, after: Node, sides: Sides) -> None:
        if case.row_set:
            return
        case.doubt = safely(
            lambda: doubt_of_form(before, after, self.states.dialect, compiled=sides.compiled),
            "its text could not be compared",
        )
        case.cosmetic = not case.doubt

    def _affected(self, case: Case, sides: Sides | None, place: int | None) -> Affected | None:
        """What is reached of a change that is confined to some columns; None where it concerns rows."""
        if sides is None or sides.before is None or place is None or set(case.kinds) - COSMETIC - _CODE:
            return None
        node = case.node
        if node.resource_type != "model" or node.materialized == "incremental" or case.direction != SAME_ROWS:
            return None
        old, new = sides.before.sql, sides.after.sql
        columns = safely(lambda: only_columns(case.row_set, old, new, self.states.dialect), None)
        found = self.columns.follow(place, columns) if columns else None
        case.only_columns = columns if found is not None else None
        if found is not None:
            case.untold = tuple(found.untold)
            self._untold.update(found.untold)
        return found

    def _follow(self, case: Case, *places: int | None, affected: Affected | None = None) -> None:
        """Put what the change reaches into its case."""
        ways: Mapping[int, Way] = {}
        among = affected.places if affected is not None else None
        for start in (one for one in places if one is not None):
            found = self.estate.reach(start, among)
            if found is None:
                case.followed = False
            else:
                more = {place: way for place, way in found.items() if place not in places} if len(places) > 1 else found
                ways = {**more, **ways} if ways else more
        vertices, readers = self.estate.vertices, self.estate.reader_places
        tables = [vertices[place] for place in ways if place not in readers]
        case.reached = dict(sorted(Counter(vertex.kind for vertex in tables).items()))
        old = (vertex.node.unique_id in self.base for vertex in tables if vertex.node is not None)
        case.nearest = tuple(vertex.label for vertex in tables[:NEAREST])
        columns: Mapping[int, Columns] | None = affected.readers if affected is not None else None
        case.readers = reached(self.estate, ways, self._clock, columns)
        case.feeds_old = bool(case.readers) or (case.action == ADDED and any(old))
        direct = self._direct(places[0], ways)
        case.direct = reached(self.estate, {place: ways[place] for place in direct}, self._clock, columns)

    def _direct(self, start: int | None, ways: Mapping[int, Way]) -> set[int]:
        """The readers that are reached without another node of the project between."""
        near: set[int] = set()
        waiting = [start] if start is not None else []
        while waiting:
            below = self.estate.children[waiting.pop()]
            found = [one for one in below if one in ways and one not in near and not self.estate.vertices[one].node]
            near.update(found)
            waiting.extend(found)
        return near & self.estate.reader_places

    def _still_read_by(self, key: str) -> tuple[str, ...]:
        return tuple(sorted(node.name for node in self.head.values() if key in node.depends_on and not node.external))

    def _lint(self, sides: Sides, place: int | None, case: Case) -> tuple[Finding, ...]:
        texts = [one.sql for one in (sides.before, sides.after) if one is not None]
        self._left -= sum(len(text) for text in texts if len(text) <= MAX_CHARACTERS)  # longer ones are not parsed
        if self._left < 0:
            self._not_linted += 1
            return ()
        readers = tuple(self._lint_readers(place, sides))
        found = safely(lambda: findings(sides.before, sides.after, self.facts, readers), [unread(sides.after)])
        found = safely(lambda: list(with_counts(found, sides.after, self.facts)), found)
        return safely(lambda: tuple(self.origins.with_counts(found, sides.after)), tuple(found))

    def _lint_readers(self, place: int | None, sides: Sides) -> Iterator[Reader]:
        """Who reads the table itself: readers, and models with the columns that they name where one is gone."""
        gone = safely(lambda: bool(removed(sides.before, sides.after)), True)
        for child in self.estate.children[place] if place is not None else ():
            vertex = self.estate.vertices[child]
            if vertex.reader is not None:
                one = vertex.reader
                yield Reader(shown(one), one.kind, one.mode, one.columns)
            elif vertex.node is not None and place is not None:
                columns = read_of(self.traces, child, place) if gone else None
                yield Reader(vertex.label, vertex.kind, "", columns)
