"""Assets and columns: what several claims say of one table becomes one description.

These rows are written before the graph version that claims them, in chunks: an asset without a standing claim is not in
the graph, so a half-finished import shows nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from django.db.models import Q

from catalog.models import Asset, Column, NodeClaim
from catalog.selectors import RANK
from catalog.sources.claims import ColumnDraft, NodeDraft
from catalog.sources.naming import DatasetName
from foundation.locks import transaction

CHUNK = 500
COLUMNS_CHUNK = 5000

T = TypeVar("T")


def ensure(drafts: Iterable[NodeDraft]) -> dict[DatasetName, Asset]:
    """The assets that `drafts` mean, by identity; those that are not there yet are made."""
    best = _best(drafts)
    found = _existing(best)
    new = [draft for identity, draft in best.items() if identity not in found]
    for chunk in _chunks(new, CHUNK):
        with transaction():
            Asset.objects.bulk_create([_asset(draft) for draft in chunk], ignore_conflicts=True)
    return found | _existing({draft.identity: draft for draft in new})


def describe(drafts: Iterable[NodeDraft], assets: Mapping[DatasetName, Asset], source_key: str) -> None:
    """Bring kind, description and columns of the drafts' assets up to what is claimed.

    A claim that ranks below another source's (who reads a table below who builds it) only fills what is empty.
    """
    best = _best(drafts)
    above = _ranks_elsewhere([assets[identity].pk for identity in best], source_key)
    pairs = [(assets[identity], draft) for identity, draft in best.items()]
    _describe_assets(pairs, above)
    _describe_columns(pairs, above)


def _best(drafts: Iterable[NodeDraft]) -> dict[DatasetName, NodeDraft]:
    found: dict[DatasetName, NodeDraft] = {}
    for draft in drafts:
        other = found.get(draft.identity)
        if other is None or RANK.get(draft.kind, 0) > RANK.get(other.kind, 0):
            found[draft.identity] = draft
    return found


def _asset(draft: NodeDraft) -> Asset:
    namespace, name = draft.identity
    return Asset(namespace=namespace, name=name, kind=draft.kind, description=draft.description)


def _existing(wanted: Mapping[DatasetName, NodeDraft]) -> dict[DatasetName, Asset]:
    by_namespace: dict[str, list[str]] = defaultdict(list)
    for namespace, name in wanted:
        by_namespace[namespace].append(name)
    return {
        DatasetName(asset.namespace, asset.name): asset
        for namespace, names in by_namespace.items()
        for chunk in _chunks(names, CHUNK)
        for asset in Asset.objects.filter(namespace=namespace, name__in=chunk)
    }


def _ranks_elsewhere(pks: Sequence[int], source_key: str) -> dict[int, int]:
    """The highest rank that another source's standing claim gives each asset."""
    found: dict[int, int] = {}
    for chunk in _chunks(pks, CHUNK):
        claims = NodeClaim.objects.filter(asset__in=chunk, removed_in__isnull=True).exclude(source__key=source_key)
        for pk, kind in claims.values_list("asset_id", "attributes__kind"):
            found[pk] = max(found.get(pk, 0), RANK.get(kind or "", 0))
    return found


def _describe_assets(pairs: Sequence[tuple[Asset, NodeDraft]], above: Mapping[int, int]) -> None:
    changed = []
    for asset, draft in pairs:
        ours = asset.pk not in above or RANK.get(draft.kind, 0) > above[asset.pk]
        kind = draft.kind if ours else asset.kind
        description = draft.description if ours or not asset.description else asset.description
        if (kind, description) != (asset.kind, asset.description):
            asset.kind, asset.description = kind, description
            changed.append(asset)
    for chunk in _chunks(changed, CHUNK):
        with transaction():
            Asset.objects.bulk_update(chunk, ["kind", "description"])


def _describe_columns(pairs: Sequence[tuple[Asset, NodeDraft]], above: Mapping[int, int]) -> None:
    created: list[Column] = []
    updated: list[Column] = []
    gone: list[int] = []
    before = _columns([asset.pk for asset, _ in pairs])
    for asset, draft in pairs:
        ours = asset.pk not in above or RANK.get(draft.kind, 0) >= above[asset.pk]
        new, changed, dropped = _merge(asset.pk, before[asset.pk], draft, ours=ours)
        created += new
        updated += changed
        gone += dropped
    for chunk in _chunks(gone, CHUNK):
        Column.objects.filter(pk__in=chunk).delete()
    for part in _chunks(created, COLUMNS_CHUNK):
        with transaction():
            Column.objects.bulk_create(part, ignore_conflicts=True, batch_size=CHUNK)
    for part in _chunks(updated, COLUMNS_CHUNK):
        with transaction():
            Column.objects.bulk_update(part, ["data_type", "description", "position"], batch_size=CHUNK)


def _columns(pks: Sequence[int]) -> defaultdict[int, dict[str, Column]]:
    found: defaultdict[int, dict[str, Column]] = defaultdict(dict)
    for chunk in _chunks(pks, CHUNK):
        for column in Column.objects.filter(asset__in=chunk):
            found[column.asset_id][column.name] = column
    return found


def _merge(
    asset_id: int, before: Mapping[str, Column], draft: NodeDraft, *, ours: bool
) -> tuple[list[Column], list[Column], list[int]]:
    """The columns to make, to change and to drop.

    Without the warehouse's own list a type that is not declared stays as it was known (D8), and so does a column whose
    type is known: only a column of which nothing but the declaration was known goes with it.
    """
    folded = {} if draft.measured else {name.casefold(): column for name, column in before.items()}
    new, changed, kept = [], [], set()
    for position, column in enumerate(draft.columns, 1):
        old = before.get(column.name) or folded.get(column.name.casefold())
        if old is None:
            place = position if draft.measured else len(before) + position
            new.append(
                Column(
                    asset_id=asset_id,
                    name=column.name,
                    data_type=column.data_type,
                    description=column.description,
                    position=place,
                )
            )
            continue
        kept.add(old.pk)
        if _update(old, column, position if draft.measured else old.position, ours=ours):
            changed.append(old)
    may_go = [column for column in before.values() if draft.measured or (ours and not column.data_type)]
    return new, changed, [column.pk for column in may_go if column.pk not in kept]


def _update(old: Column, new: ColumnDraft, position: int, *, ours: bool) -> bool:
    """Change `old` in memory; whether anything changed."""
    known = (old.data_type, old.description, old.position)
    old.data_type = new.data_type or old.data_type
    old.description = new.description if ours or not old.description else old.description
    old.position = position
    return known != (old.data_type, old.description, old.position)


def _chunks(items: Sequence[T], size: int) -> Iterator[list[T]]:
    for start in range(0, len(items), size):
        yield list(items[start : start + size])


def by_local_id(names: Sequence[str], *, besides: str) -> dict[str, int]:
    """The assets that sources other than `besides` know under these dbt ids: where a cross-project reference leads."""
    found: dict[str, int] = {}
    for chunk in _chunks(names, CHUNK):
        described = Q(attributes__external__isnull=True)
        claims = NodeClaim.objects.filter(described, local_id__in=chunk, removed_in__isnull=True, source__kind="dbt")
        found.update(claims.exclude(source__key=besides).values_list("local_id", "asset_id"))
    return found
