"""Who answers for many assets at once, in each role, as people; `lineage_assets.answering` has their names alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from django.db.models import Q

from catalog.models import Asset, AssetRole
from catalog.selectors import DECLARED
from foundation.models import Person

CHUNK = 500

Answering: TypeAlias = dict[int, dict[str, Person | str]]


def answering(rows: Sequence[Asset]) -> Answering:
    """The first who answers for each asset in each role: an active person, else a label.

    Whom people declared goes before whom a dbt project names; the domain's owner is the owner where nobody is named.
    """
    found: Answering = {}
    for row in sorted(_roles(rows), key=_last_first):
        found.setdefault(row.asset_id, {})[row.role] = row.person or row.label
    for asset in rows:
        if asset.domain is not None and asset.domain.owner is not None and asset.domain.owner.is_active:
            found.setdefault(asset.pk, {}).setdefault("owner", asset.domain.owner)
    return found


def _roles(rows: Sequence[Asset]) -> Iterable[AssetRole]:
    counting = AssetRole.objects.filter(Q(person__is_active=True) | Q(person__isnull=True))
    for start in range(0, len(rows), CHUNK):
        chunk = [row.pk for row in rows[start : start + CHUNK]]
        yield from counting.filter(asset__in=chunk).select_related("person__principal__name_row")


def _last_first(row: AssetRole) -> tuple[bool, bool, int]:
    return row.person is not None, row.source == DECLARED, -row.pk
