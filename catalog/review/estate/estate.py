"""What feeds what around a change: the nodes of both manifests, declared tables, and the readers of all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from catalog.review.estate.built import Built
from catalog.review.estate.names import DECLARED, READER, Names, joined, names_of
from catalog.review.estate.untold import Untold
from catalog.review.estate.ways import Ways
from catalog.review.reader_name import named, shown
from catalog.review.types import Knowledge, KnownAsset, KnownReader
from catalog.sources.manifest_types import Manifest, Node

_NO_TABLES = frozenset({"exposure", "test", "unit_test", "analysis", "operation", "sql_operation", "rpc", "doc",
                        "group", "fixture", "macro"})  # fmt: skip
"""What dbt knows and nothing is built from, or that stands as a reader."""
MOST_STEPS = 40_000_000
"""So many edges are followed in one review, which takes some ten seconds; a change beyond that is said to be not
followed."""


@dataclass(slots=True)
class Vertex:
    """A node, a declared table or a reader; `label` is what it is called."""

    label: str
    kind: str
    node: Node | None = None
    assets: list[KnownAsset] = field(default_factory=list)
    reader: KnownReader | None = None


class Estate:
    """The graph in which a change is followed. What a removed node fed in base counts; all else is as head has it."""

    def __init__(self, base: Manifest, head: Manifest, knowledge: Knowledge) -> None:
        self.vertices: list[Vertex] = []
        self.children: list[dict[int, bool]] = []
        """By place: the places that read it, with whether that is certain."""
        self.parents: list[dict[int, bool]] = []
        self.places: dict[str, int] = {}
        self.relations: dict[int, list[str]] = {}
        """The names under which a node is built in head and in base."""
        self.names = Names()
        self.untold = Untold()
        self.reader_places: set[int] = set()
        self.steps_left = MOST_STEPS
        self._nodes(base, head)
        self._edges(base, head)
        self._declared(knowledge.assets)
        self._readers(knowledge.readers)

    def place(self, unique_id: str) -> int | None:
        """Where a node stands; None for what is no table (a test, a macro)."""
        return self.places.get(unique_id)

    def reach(self, start: int, among: Collection[int] | None = None) -> Ways | None:
        """All that `start` feeds (within `among`), in the order of distance over certain edges, then over doubtful
        ones. None when too much was followed already."""
        before, hops, order = {start: start}, {start: 0}, [start]
        doubtful: list[tuple[int, int]] = []
        sure = place = 0
        while place < len(order) or doubtful:
            if place == len(order):
                sure = sure or place
                current, child = doubtful.pop(0)
                if child not in before:
                    before[child], hops[child] = current, hops[current] + 1
                    order.append(child)
                continue
            current = order[place]
            place += 1
            self.steps_left -= len(self.children[current])
            if self.steps_left < 0:
                return None
            for child, certain in self.children[current].items():
                if child in before or (among is not None and child not in among):
                    continue
                if certain:
                    before[child], hops[child] = current, hops[current] + 1
                    order.append(child)
                else:
                    doubtful.append((current, child))
        return Ways(before, hops, frozenset(order[sure:] if sure else ()))

    def _add(self, vertex: Vertex) -> int:
        self.vertices.append(vertex)
        self.children.append({})
        self.parents.append({})
        return len(self.vertices) - 1

    def _edge(self, above: int, below: int, certain: bool = True) -> None:
        if above != below:
            certain = certain or self.children[above].get(below, False)
            self.children[above][below] = self.parents[below][above] = certain

    def _nodes(self, base: Manifest, head: Manifest) -> None:
        built = Built(base, head)
        for manifest in (head, base):
            for key, node in {**manifest.nodes, **manifest.others}.items():
                if node.resource_type not in _NO_TABLES:
                    self._node(key, node, built.now_at(node) if manifest is base else "")

    def _node(self, key: str, node: Node, same: str) -> None:
        """Put a node in its place; `same` is the id of the node of head that is built where a gone one was."""
        if key not in self.places:
            place = self.places[same] if same else self._add(Vertex(node.name, node.kind, node))
            self.places[key] = place
            self.names.add_id(key, place)
        elif _undescribed(self.vertices[self.places[key]].node) and not node.external:
            self.vertices[self.places[key]] = Vertex(node.name, node.kind, node)
        if node.relation_name:
            self.relations.setdefault(self.places[key], []).append(node.relation_name)
        for name in names_of(node):
            self.names.add(name, self.places[key])

    def _edges(self, base: Manifest, head: Manifest) -> None:
        known = {**head.nodes, **head.others}
        for key, node in known.items():
            self._feeds(node.depends_on, key)
        for key, node in {**base.nodes, **base.others}.items():
            gone = [parent for parent in node.depends_on if parent not in known or known[parent].external]
            self._feeds(gone if key in known else node.depends_on, key)

    def _feeds(self, above: Iterable[str], below: str) -> None:
        for parent in above:
            if parent in self.places and below in self.places:
                self._edge(self.places[parent], self.places[below])

    def _declared(self, assets: Iterable[KnownAsset]) -> None:
        own: list[tuple[int, KnownAsset]] = []
        for asset in assets:
            found, certain = self._asset(asset)
            if found and certain:
                place = found[0]
                self.vertices[place].assets.append(asset)
            else:
                place = self._add(Vertex(asset.name, asset.kind, assets=[asset]))
                for above in found if not asset.unique_id else ():  # it may be the same table
                    self._edge(above, place, certain=False)
            self.names.add(asset.name, place, DECLARED)
            node = self.vertices[place].node
            if node is None or node.external:
                own.append((place, asset))
        for place, asset in own:
            self._reads(asset.reads, place, f"the {asset.kind} {asset.name}")

    def _asset(self, asset: KnownAsset) -> tuple[tuple[int, ...], bool]:
        if asset.unique_id in self.places:
            return (self.places[asset.unique_id],), True
        return self.names.find(asset.name)

    def _readers(self, readers: Iterable[KnownReader]) -> None:
        placed = [(self._add(Vertex(shown(one), one.kind, reader=one)), one) for one in readers]
        for place, reader in placed:
            self.reader_places.add(place)
            self.names.add(reader.name, place, READER)
        for place, reader in placed:
            said = f"the {named(reader)}"
            if not reader.reads:
                self.untold.reads_nothing(said)
            self._reads(reader.reads, place, said)

    def _reads(self, names: Iterable[str], place: int, said: str) -> None:
        for name in names:
            found, certain = self.names.find(name)
            others = [one for one in found if one != place]
            if not others:
                self.untold.unknown(said, name)
            elif not certain:
                self.untold.several(said, name, joined(self._called(others)))
            for above in others:
                self._edge(above, place, certain)

    def _called(self, places: Iterable[int]) -> Iterator[str]:
        for place in places:
            node = self.vertices[place].node
            yield node.unique_id if node is not None else self.vertices[place].label


def _undescribed(node: Node | None) -> bool:
    return node is not None and node.external
