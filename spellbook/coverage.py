"""Which tables are watched closely enough that a wrong one is noticed: the floor above the catalogue knows."""

from __future__ import annotations

from collections.abc import Collection

from incidents.models import Baseline

CHUNK = 500


def with_baseline(asset_ids: Collection[int]) -> set[int]:
    """The ids among these of tables of which a value that nobody withdrew was judged against a baseline.

    A table whose values were all *not evaluated* (too few builds) has none yet.
    """
    listed, found = sorted(asset_ids), set()
    for start in range(0, len(listed), CHUNK):
        judged = Baseline.objects.exclude(verdict="not_evaluated").filter(value__withdrawn_at__isnull=True)
        mine = judged.filter(value__metric__asset__in=listed[start : start + CHUNK])
        found |= set(mine.values_list("value__metric__asset_id", flat=True).distinct())
    return found
