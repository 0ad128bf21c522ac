"""Graphs of a few rows, written without any service: versions, assets and the edges between them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from catalog.models import Asset, Consumer, EdgeClaim, GraphHead, GraphVersion, NodeClaim, Source, Sync
from foundation.clock import now

Pair = tuple[str, str]


class Rows:
    """Assets by their names; each `version` opens and closes edges as an import would."""

    def __init__(self) -> None:
        self.source = Source.objects.create(key="dbt:rows", kind="dbt")
        self.assets: dict[str, Asset] = {}
        self.start = now() - timedelta(days=1)

    def version(
        self, add: Iterable[Pair] = (), remove: Iterable[Pair] = (), *, gone: Iterable[str] = (), source: Any = None
    ) -> int:
        """One more graph version, a minute after the one before; returns its number."""
        origin, number = source or self.source, 1 + GraphVersion.objects.count()
        made = GraphVersion.objects.create(number=number, at=self.at(number), source=origin)
        GraphHead.objects.update_or_create(pk=1, defaults={"version": number})
        edges = list(add)
        for name in sorted({name for pair in edges for name in pair} - self.assets.keys()):
            self.asset(name, made)
        EdgeClaim.objects.bulk_create(
            EdgeClaim(source=origin, from_asset=self.assets[a], to_asset=self.assets[b], added_in=made)
            for a, b in edges
        )
        standing = EdgeClaim.objects.filter(source=origin, removed_in__isnull=True)
        for a, b in remove:
            assert standing.filter(from_asset=self.assets[a], to_asset=self.assets[b]).update(removed_in=made)
        for name in gone:
            NodeClaim.objects.filter(asset=self.assets[name], removed_in__isnull=True).update(removed_in=made)
        return number

    def at(self, number: int) -> datetime:
        return self.start + timedelta(minutes=number)

    def asset(self, name: str, version: GraphVersion, kind: str = "model", **more: Any) -> Asset:
        """An asset that the source claims from `version` on."""
        row = Asset.objects.create(namespace="duckdb://rows", name=name, kind=kind, **more)
        NodeClaim.objects.create(source=self.source, asset=row, local_id=name, added_in=version)
        self.assets[name] = row
        return row

    def reader(self, name: str, *, kind: str = "dashboard", tool: str = "", mode: str = "", **fields: Any) -> Consumer:
        """Makes an asset that is there a reader, a sync when it has a tool."""
        asset = self.assets[name]
        Asset.objects.filter(pk=asset.pk).update(kind=kind)
        consumer = Consumer.objects.create(asset=asset, **fields)
        if tool:
            Sync.objects.create(consumer=consumer, tool=tool, mode=mode or "unknown")
        return consumer

    def pk(self, name: str) -> int:
        return self.assets[name].pk

    def names(self, ids: Iterable[int]) -> list[str]:
        by_id = {asset.pk: name for name, asset in self.assets.items()}
        return [by_id[pk] for pk in ids]


def claimed(asset: Asset) -> Asset:
    """`asset`, which a source claims in one more graph version: what nobody ever claimed is not known."""
    source, _ = Source.objects.get_or_create(key="dbt:one", defaults={"kind": "dbt"})
    made = GraphVersion.objects.create(number=1 + GraphVersion.objects.count(), at=now(), source=source)
    GraphHead.objects.update_or_create(pk=1, defaults={"version": made.number})
    NodeClaim.objects.create(source=source, asset=asset, local_id=str(asset.pk), added_in=made)
    return asset
