"""Small graphs written claim by claim, for tests that need no file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from catalog.models import Asset, EdgeClaim, GraphHead, GraphVersion, NodeClaim, Source
from foundation import clock


def asset(name: str, namespace: str = "duckdb://shop", kind: str = "table") -> Asset:
    return Asset.objects.get_or_create(namespace=namespace, name=name, defaults={"kind": kind})[0]


def claim(source: str, nodes: Iterable[Asset] = (), edges: Mapping[Asset, Iterable[Asset]] | None = None) -> int:
    """A new version in which `source` claims these nodes, and edges from each key to its values, beside what stands."""
    origin, _ = Source.objects.get_or_create(key=source, defaults={"kind": source.partition(":")[0]})
    head, _ = GraphHead.objects.get_or_create(pk=1)
    version = GraphVersion.objects.create(number=head.version + 1, at=clock.now(), source=origin, added=1)
    GraphHead.objects.filter(pk=1).update(version=version.number)
    for one in nodes:
        NodeClaim.objects.create(
            source=origin,
            asset=one,
            local_id=f"{one.namespace}/{one.name}",
            attributes={"kind": one.kind},
            added_in=version,
        )
    for above, many in (edges or {}).items():
        for below in many:
            EdgeClaim.objects.create(source=origin, from_asset=above, to_asset=below, added_in=version)
    return version.number


def standing_edges() -> set[tuple[str, str, str]]:
    """(source, from, to) of every edge that is claimed now."""
    rows = EdgeClaim.objects.filter(removed_in__isnull=True).select_related("source", "from_asset", "to_asset")
    return {(one.source.key, str(one.from_asset), str(one.to_asset)) for one in rows}


def edges_at(version: int) -> set[tuple[int, int]]:
    """(from, to) by id of every edge in a version, read from the intervals."""
    rows = EdgeClaim.objects.filter(added_in__lte=version).exclude(removed_in__lte=version)
    return set(rows.values_list("from_asset_id", "to_asset_id"))
