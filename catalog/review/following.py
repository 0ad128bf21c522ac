"""What a change reaches: all that its table feeds, or what uses one of the columns that it is confined to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime

from catalog.diff.row_set_types import SAME_ROWS
from catalog.review.case import ADDED, CODE_KINDS, NEAREST, Case
from catalog.review.columns.column_reach import Affected, ColumnReach
from catalog.review.columns.confined import only_columns
from catalog.review.columns.traces import Traces
from catalog.review.estate.estate import Estate
from catalog.review.estate.names import joined
from catalog.review.estate.reached import Clock, live_places, reached
from catalog.review.estate.ways import Way, best
from catalog.review.safely import safely
from catalog.review.states import Sides
from catalog.review.types import Columns
from catalog.review.verdict import WORDS_ALONE
from catalog.sources.manifest_types import Node


class Following:
    """Follows the changes of one review; `base` are the nodes that were there before."""

    def __init__(self, estate: Estate, traces: Traces, base: Mapping[str, Node], dialect: str, at: datetime) -> None:
        self._estate, self._traces, self._base, self._dialect = estate, traces, base, dialect
        self._columns, self._clock, self._untold = ColumnReach(estate, traces), Clock(at), set[str]()

    def affected(self, case: Case, sides: Sides | None, place: int | None) -> Affected | None:
        """What is reached of a change that is confined to some columns; None where it concerns rows."""
        if sides is None or sides.before is None or place is None or set(case.kinds) - WORDS_ALONE - CODE_KINDS:
            return None
        node = case.node
        if node.resource_type != "model" or node.materialized == "incremental" or case.direction != SAME_ROWS:
            return None
        old, new = sides.before.sql, sides.after.sql
        columns = safely(lambda: only_columns(case.row_set, old, new, self._dialect), None)
        found = self._columns.follow(place, columns) if columns else None
        case.only_columns = columns if found is not None else None
        if found is not None:
            case.untold = tuple(found.untold)
            self._untold.update(found.untold)
        return found

    def follow(self, case: Case, *places: int | None, affected: Affected | None = None) -> None:
        """Put what the change reaches into its case; `places` are where its table stands and stood."""
        found: list[Mapping[int, Way]] = []
        among = affected.places if affected is not None else None
        for start in (one for one in places if one is not None):
            ways = self._estate.reach(start, among)
            if ways is None:
                case.followed = False
            else:
                found.append(ways)
        self._put(case, places, found[0] if found and len(places) == 1 else _without(places, best(found)), affected)

    def notes(self) -> Iterator[str]:
        """What could not be followed."""
        if self._traces.skipped:
            yield f"columns were not followed through {joined(self._traces.skipped)}: there is too much SQL"
        elif self._untold:
            yield (
                f"columns could not be followed through {joined(sorted(self._untold))}: "
                "what these feed counts as reached"
            )

    def _put(
        self, case: Case, places: tuple[int | None, ...], ways: Mapping[int, Way], affected: Affected | None
    ) -> None:
        vertices, readers = self._estate.vertices, self._estate.reader_places
        tables = [vertices[place] for place in ways if place not in readers]
        case.reached = dict(sorted(Counter(vertex.kind for vertex in tables).items()))
        old = (vertex.node.unique_id in self._base for vertex in tables if vertex.node is not None)
        case.nearest = tuple(vertex.label for vertex in tables[:NEAREST])
        columns: Mapping[int, Columns] | None = affected.readers if affected is not None else None
        case.readers = reached(self._estate, ways, self._clock, columns)
        case.reader_places = live_places(self._estate, ways)
        case.feeds_old = bool(case.readers) or (case.action == ADDED and any(old))
        direct = self._direct(places[0], ways)
        case.direct = reached(self._estate, {place: ways[place] for place in direct}, self._clock, columns)

    def _direct(self, start: int | None, ways: Mapping[int, Way]) -> set[int]:
        """The readers that are reached without another node of the project between."""
        near: set[int] = set()
        waiting = [start] if start is not None else []
        while waiting:
            below = self._estate.children[waiting.pop()]
            found = [one for one in below if one in ways and one not in near and not self._estate.vertices[one].node]
            near.update(found)
            waiting.extend(found)
        return near & self._estate.reader_places


def _without(places: Collection[int | None], ways: Mapping[int, Way]) -> Mapping[int, Way]:
    """What is reached besides the starts themselves."""
    return {place: way for place, way in ways.items() if place not in places}
