"""What declared readers read: their claims in the graph, one source beside the other, and the names nobody knows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import QuerySet

from catalog import actions
from catalog.graph.versions import head_version
from catalog.models import Asset, EdgeClaim, GraphVersion, NodeClaim
from catalog.names import find_each
from catalog.services import claims
from catalog.services.declarations import KIND
from foundation import audit
from foundation.audit import Actor
from foundation.errors import NotFound, SpellbookError

NAMESPACE: Final = "declared://readers"


@dataclass(frozen=True)
class Reading:
    """What one reader reads, by the names that were declared."""

    asset_id: int
    kind: str
    names: Sequence[str]


def claim(
    key: str, readings: Sequence[Reading], known: Mapping[str, Asset | SpellbookError], *, actor: Actor, whole: bool
) -> int:
    """Claim these readers for source `key`, with an edge from each thing that they read; returns the graph version.

    `known` holds what each name means (see `catalog.names.find_each`). `whole`: the source claims no other readers.
    """
    mine = _local_ids(key)

    def compare() -> claims.Difference:
        nodes: dict[str, tuple[int, dict[str, Any]]] = {}
        edges: set[tuple[int, int, str]] = set()
        for one in readings:
            above, unknown = _resolve(key, one, known, {reading.asset_id for reading in readings})
            attributes = {"kind": one.kind, "reads": list(one.names), "unmatched": unknown}
            nodes[mine.get(one.asset_id, f"reader:{one.asset_id}")] = (one.asset_id, attributes)
            edges |= {(pk, one.asset_id, "reads") for pk in above if pk != one.asset_id}
        return claims.difference(key, nodes, edges, partial=not whole)

    return _write(key, compare, actor)


def close(key: str, asset_ids: Collection[int], *, actor: Actor) -> int:
    """Source `key` claims these readers no more; returns the graph version."""
    gone = set(asset_ids)

    def compare() -> claims.Difference:
        nodes = {one.local_id: (one.asset_id, one.attributes) for one in standing(key) if one.asset_id not in gone}
        rows = EdgeClaim.objects.filter(source__key=key, removed_in__isnull=True).exclude(to_asset__in=gone)
        return claims.difference(key, nodes, rows.values_list("from_asset_id", "to_asset_id", "kind"), partial=False)

    return _write(key, compare, actor)


def join(*, actor: Actor) -> int:
    """Look up again what declared readers read, after tables came or went; returns the newest graph version.

    A name that became ambiguous since is listed as unmatched, and the edge of before stays.
    """
    every = list(standing().select_related("source"))
    names = {name for one in every for name in one.attributes["reads"]}
    known = find_each(names)
    for key in {one.source.key for one in every}:
        mine = [one for one in every if one.source.key == key]
        readings = [Reading(one.asset_id, one.attributes["kind"], one.attributes["reads"]) for one in mine]
        claim(key, readings, known, actor=actor, whole=False)
    return head_version()


def unmatched() -> list[dict[str, str]]:
    """What declared readers read and nobody knows: {in: the reader, name: the table as declared}."""
    rows = standing().select_related("asset").order_by("pk")
    return [{"in": one.asset.name, "name": name} for one in rows for name in one.attributes["unmatched"]]


def standing(key: str = "") -> QuerySet[NodeClaim]:
    """The readers that are claimed now by source `key`, or by any source that declares."""
    rows = NodeClaim.objects.filter(source__kind=KIND, removed_in__isnull=True)
    return rows.filter(source__key=key) if key else rows


def told_elsewhere(asset_ids: Collection[int]) -> set[int]:
    """The assets among these that a source tells of which is no declaration: dbt, a warehouse, an event."""
    rows = NodeClaim.objects.filter(asset__in=list(asset_ids), removed_in__isnull=True).exclude(source__kind=KIND)
    return set(rows.values_list("asset_id", flat=True))


def _local_ids(key: str) -> dict[int, str]:
    return dict(standing(key).values_list("asset_id", "local_id"))


def _write(key: str, compare: Any, actor: Actor) -> int:
    def in_step(change: claims.Change) -> None:
        counts = {"added": change.added, "changed": change.changed, "removed": change.removed}
        facts = {"version": change.version, **counts}
        audit.record(actor, actions.GRAPH_DECLARED, GraphVersion(number=change.version), facts=facts)

    return claims.write(key, KIND, compare, in_step=in_step).version


def _resolve(
    key: str, one: Reading, known: Mapping[str, Asset | SpellbookError], together: Collection[int]
) -> tuple[set[int], list[str]]:
    """What a reader reads, and the names that mean nothing in the graph now; an edge to what was in it stays."""
    above, unknown = set(), []
    for name in one.names:
        found = known.get(name, NotFound(name))
        if isinstance(found, Asset):
            above.add(found.pk)
            if not (found.pk in together or getattr(found, "in_graph", True)):
                unknown.append(name)
            continue
        unknown.append(name)
        if not isinstance(found, NotFound):
            edges = EdgeClaim.objects.filter(source__key=key, to_asset=one.asset_id, removed_in__isnull=True)
            above |= set(edges.values_list("from_asset_id", flat=True))
    return above, unknown
