"""Writing claims: what a source says now is compared with what it said before, and only the difference is written (D6).

The comparison runs before the lock. Under the lock of the head row, held to commit, the version that it was made on is
checked, and the difference is written in one short step; somebody else's new version means comparing again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from django.db.models import Model, QuerySet

from catalog.models import EdgeClaim, GraphHead, GraphVersion, NodeClaim, Source
from foundation import clock
from foundation.errors import Busy
from foundation.locks import lock, transaction

CHUNK = 500
TRIES = 5

Edge: TypeAlias = tuple[int, int, str]
NodeClaims: TypeAlias = Mapping[str, tuple[int, dict[str, Any]]]


@dataclass(frozen=True)
class Change:
    """The graph version in which a source's claims stand, and how many assets of it were added, changed, removed."""

    version: int
    added: int = 0
    changed: int = 0
    removed: int = 0


@dataclass(frozen=True)
class Difference:
    """What has to be written on graph version `base`."""

    base: int
    opened: NodeClaims
    closed: list[int]
    opened_edges: set[Edge]
    closed_edges: list[int]
    added: int
    changed: int
    removed: int

    def __bool__(self) -> bool:
        return bool(self.opened or self.closed or self.opened_edges or self.closed_edges)


def source(key: str, kind: str) -> Source:
    """The row of a source, made when it speaks first."""
    return Source.objects.get_or_create(key=key, defaults={"kind": kind})[0]


def difference(key: str, nodes: NodeClaims, edges: Iterable[Edge], *, partial: bool) -> Difference:
    """Compare all that source `key` claims now, by its own ids, with its standing claims.

    With `partial` only the nodes named here, and the edges into their assets, are compared; the rest stays.
    """
    base = GraphHead.objects.values_list("version", flat=True).first() or 0
    before = _standing_nodes(key, set(nodes) if partial else None)
    edges_before = _standing_edges(key, {asset for asset, _ in nodes.values()} if partial else None)
    opened = {name: claim for name, claim in nodes.items() if before.get(name, (0,))[1:] != claim}
    now = set(edges)
    return Difference(
        base=base,
        opened=opened,
        closed=[claim[0] for name, claim in before.items() if name in opened or name not in nodes],
        opened_edges=now - edges_before.keys(),
        closed_edges=[pk for edge, pk in edges_before.items() if edge not in now],
        added=sum(name not in before for name in opened),
        changed=sum(name in before for name in opened),
        removed=sum(name not in nodes for name in before),
    )


def write(
    key: str,
    kind: str,
    compare: Callable[[], Difference],
    *,
    first: Difference | None = None,
    artifact_sha256: str = "",
    in_step: Callable[[Change], None] = lambda change: None,
) -> Change:
    """Write what `compare` finds (`first`: what it found just now) as one new graph version; no difference, no version.

    `in_step` is called in the same transaction (audit row, rows that belong to the version). Raises Busy when the lock
    is not to be had, or when others kept making versions in between.
    """
    for _ in range(TRIES):
        found, first = first or compare(), None
        if not found:
            return Change(found.base)
        rows = _rows(source(key, kind), found)
        with transaction():
            GraphHead.objects.get_or_create(pk=1)
            head = lock(GraphHead.objects.all(), pk=1)
            if head.version != found.base:
                continue
            change = Change(head.version + 1, found.added, found.changed, found.removed)
            _flip(rows, found, change, artifact_sha256)
            in_step(change)
            return change
    raise Busy("The graph is being changed by others; nothing was recorded.")


@dataclass(frozen=True)
class _Rows:
    """What is inserted, made before the lock is taken, since that takes longer than inserting it."""

    origin: Source
    nodes: list[NodeClaim]
    edges: list[EdgeClaim]


def _rows(origin: Source, found: Difference) -> _Rows:
    common = {"source_id": origin.pk, "added_in_id": found.base + 1}
    nodes = [
        NodeClaim(asset_id=asset, local_id=name, attributes=attributes, **common)
        for name, (asset, attributes) in found.opened.items()
    ]
    edges = [
        EdgeClaim(from_asset_id=above, to_asset_id=below, kind=kind, **common)
        for above, below, kind in sorted(found.opened_edges)
    ]
    return _Rows(origin, nodes, edges)


def _flip(rows: _Rows, found: Difference, change: Change, sha256: str) -> None:
    version = GraphVersion.objects.create(
        number=change.version,
        at=clock.now(),
        source=rows.origin,
        artifact_sha256=sha256,
        added=change.added,
        changed=change.changed,
        removed=change.removed,
    )
    GraphHead.objects.filter(pk=1, version=found.base).update(version=change.version)
    _close(NodeClaim.objects.all(), found.closed, version)
    _close(EdgeClaim.objects.all(), found.closed_edges, version)
    NodeClaim.objects.bulk_create(rows.nodes, batch_size=CHUNK)
    EdgeClaim.objects.bulk_create(rows.edges, batch_size=CHUNK)


def _close(claims: QuerySet[Any], pks: list[int], version: Model) -> None:
    for start in range(0, len(pks), CHUNK):
        claims.filter(pk__in=pks[start : start + CHUNK], removed_in__isnull=True).update(removed_in=version)


def _standing_nodes(key: str, names: set[str] | None) -> dict[str, tuple[int, int, dict[str, Any]]]:
    rows = NodeClaim.objects.filter(source__key=key, removed_in__isnull=True).values_list(
        "local_id", "pk", "asset_id", "attributes"
    )
    return {name: (pk, asset, attributes) for name, pk, asset, attributes in rows if names is None or name in names}


def _standing_edges(key: str, into: set[int] | None) -> dict[Edge, int]:
    rows = EdgeClaim.objects.filter(source__key=key, removed_in__isnull=True).values_list(
        "from_asset_id", "to_asset_id", "kind", "pk"
    )
    return {(above, below, kind): pk for above, below, kind, pk in rows if into is None or below in into}
