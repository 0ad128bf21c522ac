"""What declared readers read: their claims in the graph, one source beside the other, and the names nobody knows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from catalog import actions
from catalog.declared_readers import KIND, standing
from catalog.graph.versions import head_version
from catalog.models import Asset, Declaration, Domain, EdgeClaim, GraphVersion, NodeClaim
from catalog.names import find_each, still_meant
from catalog.services import claims
from catalog.services.access import pool_of
from foundation import audit
from foundation.audit import Actor
from foundation.errors import NotFound, SpellbookError


@dataclass(frozen=True)
class Reading:
    """What one reader reads, by the names that were declared."""

    asset_id: int
    kind: str
    names: Sequence[str]
    meant: Mapping[str, Asset | SpellbookError] = field(default_factory=dict)
    """What of the names means something else to this reader than to others."""


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

    return write(key, compare, actor=actor)


def close(key: str, asset_ids: Collection[int], *, actor: Actor) -> int:
    """Source `key` claims these readers no more; returns the graph version."""
    gone = set(asset_ids)

    def compare() -> claims.Difference:
        nodes = {one.local_id: (one.asset_id, one.attributes) for one in standing(key) if one.asset_id not in gone}
        rows = EdgeClaim.objects.filter(source__key=key, removed_in__isnull=True).exclude(to_asset__in=gone)
        return claims.difference(key, nodes, rows.values_list("from_asset_id", "to_asset_id", "kind"), partial=False)

    return write(key, compare, actor=actor)


def join(*, actor: Actor) -> int:
    """Look up again what declared readers read, after tables came or went; returns the newest graph version.

    A name that became ambiguous since is listed as unmatched, and the edge of before stays. What a reader reads it goes
    on reading while that is in the graph and has the name, whatever else took the name since; and a name that meant
    nothing when it was declared does not come to mean what its author may not read (D1).
    """
    every = list(standing().select_related("source"))
    names = {name for one in every for name in one.attributes["reads"]}
    known = find_each(names)
    meant = _meant_by_each(every, known)
    for key in {one.source.key for one in every}:
        mine = [one for one in every if one.source.key == key]
        readings = [
            Reading(one.asset_id, one.attributes["kind"], one.attributes["reads"], meant.get(one.pk, {}))
            for one in mine
        ]
        claim(key, readings, known, actor=actor, whole=False)
    return head_version()


def write(key: str, compare: Callable[[], claims.Difference], *, actor: Actor) -> int:
    """Write what `compare` finds as the word of source `key`, with its audit row; returns the graph version."""

    def in_step(change: claims.Change) -> None:
        facts = {"version": change.version, **change.counts}
        audit.record(actor, actions.GRAPH_DECLARED, GraphVersion(number=change.version), facts=facts)

    return claims.write(key, KIND, compare, in_step=in_step).version


def _meant_by_each(
    every: Sequence[NodeClaim], known: Mapping[str, Asset | SpellbookError]
) -> dict[int, dict[str, Asset | SpellbookError]]:
    """By claim, what its names mean to it alone, where that is not what `known` says."""
    rows = EdgeClaim.objects.filter(source__kind=KIND, removed_in__isnull=True)
    read: dict[tuple[int, int], set[int]] = {}
    for source, reader, above in rows.values_list("source_id", "to_asset_id", "from_asset_id"):
        read.setdefault((source, reader), set()).add(above)
    restricted = set(Domain.objects.filter(restricted=True).values_list("pk", flat=True))
    found: dict[int, dict[str, Asset | SpellbookError]] = {}
    for one in every:
        now = read.get((one.source_id, one.asset_id), set())
        for name in one.attributes["reads"]:
            asset = known[name]
            if not isinstance(asset, Asset) or asset.pk in now:
                continue
            kept = still_meant(name, now, asset) if now else None
            if kept is not None:
                found.setdefault(one.pk, {})[name] = kept
            elif asset.domain_id in restricted:
                found.setdefault(one.pk, {})[name] = _seen_by_author(one, name)
    return found


def _seen_by_author(one: NodeClaim, name: str) -> Asset | SpellbookError:
    """What `name` means to whoever said what this reader reads."""
    said = Declaration.objects.filter(source=one.source_id, asset=one.asset_id).select_related("author__owner").first()
    pool = pool_of(Actor(said.author, "")) if said is not None else None
    return find_each([name], among=pool)[name]


def _local_ids(key: str) -> dict[int, str]:
    return dict(standing(key).values_list("asset_id", "local_id"))


def _resolve(
    key: str, one: Reading, known: Mapping[str, Asset | SpellbookError], together: Collection[int]
) -> tuple[set[int], list[str]]:
    """What a reader reads, and the names that mean nothing in the graph now; an edge to what was in it stays."""
    above, unknown = set(), []
    for name in one.names:
        found = one.meant.get(name) or known.get(name, NotFound(name))
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
