"""Writing claims: what a source says now is compared with what it said before, and only the difference is written (D6).

The comparison runs before the lock. Under the lock of the head row, held to commit, the version that it was made on is
checked, and the difference is written in one short step; somebody else's new version means comparing again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import orjson
from django.db.models import Model, QuerySet, TextField
from django.db.models.functions import Cast

from catalog.graph.versions import head_version
from catalog.models import EdgeClaim, GraphHead, GraphVersion, NodeClaim, Source
from catalog.services.graph_lock import hold_graph
from catalog.services.staging import Edge, NodeClaims, Staging
from foundation import clock
from foundation.bulk import among
from foundation.errors import Busy
from foundation.locks import transaction

TRIES = 4

Standing: TypeAlias = Mapping[str, tuple[int, int, Mapping[str, Any]]]
"""By the source's own id: the claim's key, the asset's, the attributes."""


@dataclass(frozen=True)
class Change:
    """The graph version in which a source's claims stand, and how many assets of it were added, changed, removed."""

    version: int
    added: int = 0
    changed: int = 0
    removed: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of assets, as an audit row has them."""
        return {"added": self.added, "changed": self.changed, "removed": self.removed}


@dataclass(frozen=True)
class Difference:
    """What has to be written on graph version `base`; `touched` are the assets that it concerns."""

    base: int
    opened: NodeClaims
    closed: list[int]
    opened_edges: set[Edge]
    closed_edges: list[int]
    added: int
    changed: int
    removed: int
    touched: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.opened or self.closed or self.opened_edges or self.closed_edges)


def source(key: str, kind: str) -> Source:
    """The row of a source, made when it speaks first."""
    return Source.objects.get_or_create(key=key, defaults={"kind": kind})[0]


def difference(key: str, nodes: NodeClaims, edges: Iterable[Edge], *, partial: bool) -> Difference:
    """Compare all that source `key` claims now, by its own ids, with its standing claims.

    With `partial` only the nodes named here, and the edges into their assets, are compared; the rest stays.
    """
    base = head_version()
    before = _standing_nodes(key, nodes if partial else None)
    edges_before = _standing_edges(key, {asset for asset, _ in nodes.values()} if partial else None)
    opened = {name: claim for name, claim in nodes.items() if before.get(name, (0,))[1:] != claim}
    return differing(base, nodes.keys(), before, opened, set(edges), edges_before)


def differing(
    base: int,
    names: Iterable[str],
    before: Mapping[str, tuple[Any, ...]],
    opened: NodeClaims,
    edges: set[Edge],
    edges_before: Mapping[Edge, int],
) -> Difference:
    """The difference, when it is known which claims are to be opened: `before` begins with (claim, asset)."""
    now = set(names)
    gone = {name: claim for name, claim in before.items() if name not in now}
    rewritten = [claim for name, claim in before.items() if name in opened]
    assets = {asset for asset, _ in opened.values()} | {claim[1] for claim in (*gone.values(), *rewritten)}
    return Difference(
        base=base,
        opened=opened,
        closed=[claim[0] for claim in (*gone.values(), *rewritten)],
        opened_edges=edges - edges_before.keys(),
        closed_edges=[pk for edge, pk in edges_before.items() if edge not in edges],
        added=len(opened) - len(rewritten),
        changed=len(rewritten),
        removed=len(gone),
        touched=frozenset(assets),
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

    `in_step` is called in the same transaction (audit row, rows that belong to the version). When others kept making
    versions in between, the last try compares under the lock. Raises Busy when the lock is not to be had.
    """
    staged: Staging | None = None
    try:
        for attempt in range(TRIES):
            found, first = first or compare(), None
            if not found:
                return Change(found.base)
            staged = staged or Staging(source(key, kind).pk)
            staged.hold(found.opened, found.opened_edges)
            with transaction():
                head = hold_graph()
                if head.version != found.base:
                    if attempt < TRIES - 1:
                        continue
                    found = compare()
                    staged.hold(found.opened, found.opened_edges)
                if not found:
                    return Change(found.base)
                change = Change(head.version + 1, found.added, found.changed, found.removed)
                _flip(staged, found, change, artifact_sha256)
                in_step(change)
                return change
        raise Busy("The graph is being changed by others; nothing was recorded.")
    finally:
        if staged:
            staged.clear()


def standing_edges(key: str) -> dict[Edge, int]:
    """The edges that source `key` claims now, with the claims' keys."""
    return _standing_edges(key, None)


def _flip(staged: Staging, found: Difference, change: Change, sha256: str) -> None:
    version = GraphVersion.objects.create(
        number=change.version,
        at=clock.now(),
        source_id=staged.source_id,
        artifact_sha256=sha256,
        added=change.added,
        changed=change.changed,
        removed=change.removed,
    )
    GraphHead.objects.filter(pk=1, version=found.base).update(version=change.version)
    _close(NodeClaim.objects.all(), found.closed, version)
    _close(EdgeClaim.objects.all(), found.closed_edges, version)
    staged.flip(change.version)


def _close(claims: QuerySet[Any], pks: list[int], version: Model) -> None:
    if pks:
        claims.filter(pk__in=among(pks), removed_in__isnull=True).update(removed_in=version)


def _standing_nodes(key: str, names: Iterable[str] | None) -> Standing:
    claims = NodeClaim.objects.filter(source__key=key, removed_in__isnull=True)
    claims = claims if names is None else claims.filter(local_id__in=among(list(names)))
    rows = claims.values_list("local_id", "pk", "asset_id", Cast("attributes", TextField()))
    return {name: (pk, asset, orjson.loads(attributes)) for name, pk, asset, attributes in rows}


def _standing_edges(key: str, into: set[int] | None) -> dict[Edge, int]:
    claims = EdgeClaim.objects.filter(source__key=key, removed_in__isnull=True)
    claims = claims if into is None else claims.filter(to_asset__in=among(list(into)))
    rows = claims.values_list("from_asset_id", "to_asset_id", "kind", "pk")
    return {(above, below, kind): pk for above, below, kind, pk in rows}
