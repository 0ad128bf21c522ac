"""The readers that sources declare, as they stand in the graph, and the names they read that nobody knows."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from django.db.models import QuerySet

from catalog.models import NodeClaim

KIND: Final = "declared"
"""The kind of every source that declares: people, a file of a repository, dbt's meta, an agent."""
NAMESPACE: Final = "declared://readers"
SUGGESTED: Final = "suggested"
"""The source of what agents say."""


def standing(key: str = "") -> QuerySet[NodeClaim]:
    """The readers that are claimed now by source `key`, or by any source that declares."""
    rows = NodeClaim.objects.filter(source__kind=KIND, removed_in__isnull=True)
    return rows.filter(source__key=key) if key else rows


def unmatched() -> list[dict[str, str]]:
    """What declared readers read and nobody knows: {in: the reader, name: the table as declared}."""
    rows = standing().select_related("asset").order_by("pk")
    return [{"in": one.asset.name, "name": name} for one in rows for name in one.attributes["unmatched"]]


def told_elsewhere(asset_ids: Collection[int]) -> set[int]:
    """The assets among these that a source tells of which is no declaration: dbt, a warehouse, an event."""
    rows = NodeClaim.objects.filter(asset__in=list(asset_ids), removed_in__isnull=True).exclude(source__kind=KIND)
    return set(rows.values_list("asset_id", flat=True))
