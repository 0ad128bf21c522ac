"""Assets and columns: what several claims say of one table becomes one description.

These rows are written before the graph version that claims them, in chunks: an asset without a standing claim is not in
the graph, so a half-finished import shows nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from django.db.models import Q

from catalog.models import Asset, ColumnList, NodeClaim
from catalog.selectors import RANK
from catalog.sources.claims import ColumnDraft, NodeDraft
from catalog.sources.naming import DatasetName
from foundation.locks import transaction

CHUNK = 500

T = TypeVar("T")
Item: TypeAlias = dict[str, Any]


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
    before = _columns([asset.pk for asset, _ in pairs])
    changed = []
    for asset, draft in pairs:
        ours = asset.pk not in above or RANK.get(draft.kind, 0) >= above[asset.pk]
        items = _merge(before.get(asset.pk, []), draft, ours=ours)
        if items != before.get(asset.pk, []):
            changed.append(ColumnList(asset_id=asset.pk, items=items))
    for chunk in _chunks(changed, CHUNK):
        with transaction():
            ColumnList.objects.bulk_create(
                chunk, update_conflicts=True, unique_fields=["asset"], update_fields=["items"]
            )


def _columns(pks: Sequence[int]) -> dict[int, list[Item]]:
    found: dict[int, list[Item]] = {}
    for chunk in _chunks(pks, CHUNK):
        found.update(ColumnList.objects.filter(asset__in=chunk).values_list("asset_id", "items"))
    return found


def _merge(before: Sequence[Item], draft: NodeDraft, *, ours: bool) -> list[Item]:
    """The columns as they are now known, in their order.

    Without the warehouse's own list a type that is not declared stays as it was known (D8), and so does a column whose
    type is known: only a column of which nothing but the declaration was known goes with it.
    """
    exact = {item["name"]: item for item in before}
    folded = {} if draft.measured else {item["name"].casefold(): item for item in before}
    named: dict[str, Item] = {}
    for column in draft.columns:
        old = exact.get(column.name) or folded.get(column.name.casefold())
        item = _updated(old, column, ours=ours)
        named[item["name"]] = item
    if draft.measured:
        return list(named.values())
    kept = [item for item in before if item["name"] in named or not ours or item["type"]]
    new = [item for name, item in named.items() if name not in exact]
    return [named.get(item["name"], item) for item in kept] + new


def _updated(old: Item | None, new: ColumnDraft, *, ours: bool) -> Item:
    if old is None:
        return {"name": new.name, "type": new.data_type, "description": new.description, "nullable": None}
    description = new.description if ours or not old["description"] else old["description"]
    return {**old, "type": new.data_type or old["type"], "description": description}


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
