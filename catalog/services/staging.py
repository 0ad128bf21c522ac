"""Rows of a coming graph version, kept ready beside the graph, so that making the version is one short step.

On SQLite a writer holds everybody up: many rows are written ahead in short transactions, and the step copies them by
one statement. PostgreSQL writes them in the step itself. Batches carry their time, so that `sweep` finds what a crash
left behind.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias
from uuid import UUID

from django.db import connection

from catalog.models import EdgeClaim, NodeClaim, StagedEdge, StagedNode
from foundation import bulk
from foundation.locks import transaction

FEW: Final = 1000
"""Rows that the step itself may insert on SQLite, in about 20 milliseconds."""
CHUNK: Final = 2000
LEFT_BEHIND: Final = 3600
"""Seconds after which a batch that is still there belongs to nobody."""
_NODE: Final = ("source_id", "asset_id", "local_id", "attributes")
_EDGE: Final = ("source_id", "from_asset_id", "to_asset_id", "kind")

Edge: TypeAlias = tuple[int, int, str]
NodeClaims: TypeAlias = Mapping[str, tuple[int, Mapping[str, Any]]]
Rows: TypeAlias = Sequence[tuple[Any, ...]]


class Staging:
    """The rows of one source for its next version: `hold` them, `flip` them into the graph, `clear` what is left."""

    def __init__(self, source_id: int) -> None:
        self.source_id = source_id
        self.batch: UUID | None = None
        self._nodes: Rows = ()
        self._edges: Rows = ()
        self._held: tuple[NodeClaims, frozenset[Edge]] | None = None

    def holds(self, nodes: NodeClaims, edges: set[Edge]) -> bool:
        """Whether exactly these rows are ready."""
        return self._held is not None and self._held[0] == nodes and self._held[1] == edges

    def hold(self, nodes: NodeClaims, edges: set[Edge]) -> None:
        """Make these rows ready, unless they are."""
        if self.holds(nodes, edges):
            return
        self.clear()
        self._nodes = [(self.source_id, asset, name, attributes) for name, (asset, attributes) in nodes.items()]
        self._edges = [(self.source_id, *edge) for edge in sorted(edges)]
        if connection.vendor != "postgresql" and len(self._nodes) + len(self._edges) > FEW:
            self._write_ahead()
        self._held = nodes, frozenset(edges)

    def flip(self, version: int) -> None:
        """Insert the held rows as claims of `version`; in the caller's transaction."""
        if self.batch is None:
            bulk.insert(NodeClaim, (*_NODE, "added_in_id"), [(*row, version) for row in self._nodes])
            bulk.insert(EdgeClaim, (*_EDGE, "added_in_id"), [(*row, version) for row in self._edges])
            return
        nodes, edges = StagedNode.objects.filter(batch=self.batch), StagedEdge.objects.filter(batch=self.batch)
        bulk.transfer(nodes.order_by("pk"), NodeClaim, _NODE, added_in_id=version)
        bulk.transfer(edges.order_by("pk"), EdgeClaim, _EDGE, added_in_id=version)

    def clear(self) -> None:
        """Remove what was written ahead; nothing is held any more."""
        self._held = None
        if self.batch is not None:
            _remove({"batch": self.batch})
            self.batch = None

    def _write_ahead(self) -> None:
        sweep()
        self.batch = _batch(time.time(), secrets.randbits(80))
        for rows in bulk.chunks(self._nodes, CHUNK):
            with transaction():
                bulk.insert(StagedNode, ("batch", *_NODE), [(self.batch, *row) for row in rows])
        for rows in bulk.chunks(self._edges, CHUNK):
            with transaction():
                bulk.insert(StagedEdge, ("batch", *_EDGE), [(self.batch, *row) for row in rows])


def sweep() -> int:
    """Remove what imports left that ended an hour ago or more without clearing it; how many rows there were."""
    return _remove({"batch__lt": _batch(time.time() - LEFT_BEHIND)})


def _remove(which: Mapping[str, UUID]) -> int:
    count = 0
    for model in (StagedNode, StagedEdge):
        rows = model._default_manager.filter(**which).order_by("pk")
        while pks := list(rows.values_list("pk", flat=True)[:CHUNK]):  # a look takes no lock
            with transaction():
                count += rows.filter(pk__lte=pks[-1]).delete()[0]
    return count


def _batch(seconds: float, rest: int = 0) -> UUID:
    """An id that begins with its moment in milliseconds, as UUIDv7 of RFC 9562 does."""
    return UUID(int=(int(seconds * 1000) << 80) | rest)
