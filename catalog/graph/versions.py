"""Which graph version is asked: the newest, the one of a moment, or the newest that knows an asset.

Its number is in one row, whose lock (`catalog.services.graph_lock`) whoever makes a version holds to commit (D6).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypeAlias

from django.db.models import Q

from catalog.models import Asset, EdgeClaim, GraphHead, GraphVersion, NodeClaim
from foundation.errors import NotFound

Intervals: TypeAlias = Sequence[tuple[int, int | None]]
"""The first version of each claim, and the first without it (None: it stands)."""


def head_version() -> int:
    """The number of the newest graph version; 0 before the first."""
    return GraphHead.objects.values_list("version", flat=True).first() or 0


def version_at(moment: datetime) -> int:
    """The number of the graph version that was the newest at `moment`; 0 before the first."""
    return GraphVersion.objects.filter(at__lte=moment).values_list("number", flat=True).first() or 0


def head() -> tuple[int, datetime | None]:
    """The newest graph version and when it was made; (0, None) before the first. One query."""
    newest = GraphVersion.objects.filter(number__in=GraphHead.objects.values("version"))
    return newest.values_list("number", "at").first() or (0, None)


def version_for(asset: Asset) -> int:
    """The newest graph version that knows `asset`: an asset that was removed is answered for as it was before.

    NotFound for one that no source ever claimed (unknown is never "no impact", D7).
    """
    return newest_of(asset, intervals(asset), head_version())


def newest_of(asset: Asset, claimed: Intervals, newest: int) -> int:
    """As `version_for`, when its `intervals` and the newest version are known."""
    if not claimed:
        raise NotFound(
            f"No source ever claimed {asset.name}: what brought it did not finish or was refused, so nothing is known "
            "of what it feeds. Import it again."
        )
    ends = [end for _, end in claimed if end is not None]
    return max(ends) - 1 if len(ends) == len(claimed) else newest


def intervals(asset: Asset) -> Intervals:
    """When sources claim `asset`: by name, else by an edge that begins or ends in it; empty for what none ever did."""
    return _of(NodeClaim.objects.filter(asset=asset).values_list("added_in_id", "removed_in_id")) or _of(
        EdgeClaim.objects.filter(Q(from_asset=asset) | Q(to_asset=asset)).values_list("added_in_id", "removed_in_id")
    )


def _of(rows: Iterable[tuple[int, int | None]]) -> Intervals:
    return list(rows)
