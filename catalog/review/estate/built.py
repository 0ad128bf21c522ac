"""Where nodes are built: which node of head stands where one of base stood that is gone."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.diff.written import terms
from catalog.sources.manifest_types import Manifest, Node
from catalog.sources.naming import fold

Place = tuple[str, ...]


class Built:
    """The tables of head by their place, also where the target moved between the two builds."""

    def __init__(self, base: Manifest, head: Manifest) -> None:
        self._moved = terms(base, head).moved
        self._adapter, self._head = head.adapter or base.adapter, head.nodes
        self._by_place = {self._place(node): key for key, node in head.nodes.items() if node.has_relation}

    def now_at(self, node: Node) -> str:
        """The id of the node of head that stands where the node of base stood; "" for none, and for itself."""
        if node.unique_id in self._head or not node.has_relation:
            return ""
        return next((key for place in self._places(node) if (key := self._by_place.get(place))), "")

    def _places(self, node: Node) -> Iterator[Place]:
        own = (node.database, node.schema)
        yield self._place(node)
        for before, after in self._moved:
            if before == own:
                yield self._place(node, *after)

    def _place(self, node: Node, *moved: str | None) -> Place:
        """The place in the warehouse, as the adapter compares names; a name in quotes may be another in other case."""
        parts = (*(moved or (node.database, node.schema)), node.identifier)
        return tuple(
            fold(part or "", self._adapter, quoted=quoted) for part, quoted in zip(parts, node.quoted, strict=True)
        )
