"""Assets and columns: what several claims say of one table becomes one description.

These rows are written before the graph version that claims them, in chunks: an asset without a standing claim is not in
the graph, so a half-finished import shows nothing. What an import changes of assets that are in the graph it writes in
the step that makes the version.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, TypeVar

import orjson
from django.db.models import Q
from django.db.models.fields.json import KeyTextTransform

from catalog.models import Asset, ColumnList, NodeClaim
from catalog.selectors import RANK
from catalog.services.graph_lock import hold_graph
from catalog.sources.claims import ColumnDraft, NodeDraft
from catalog.sources.naming import DatasetName
from foundation import bulk
from foundation.bulk import among, chunks
from foundation.locks import transaction

CHUNK = 2000
"""Rows a transaction: on SQLite 20 to 60 milliseconds."""

T = TypeVar("T")
Item: TypeAlias = dict[str, Any]


class Known(NamedTuple):
    """An asset as far as a description may change it."""

    pk: int
    kind: str
    description: str


class Described(NamedTuple):
    """The ids of assets whose kind or description, and of those whose columns changed."""

    assets: list[int]
    columns: list[int]


@dataclass(frozen=True)
class Description:
    """What is to be written of assets: (id, kind, description), and (id, columns as JSON text); `elsewhere` are those
    that other sources know."""

    assets: Sequence[tuple[int, str, str]] = ()
    columns: Sequence[tuple[int, str]] = ()
    elsewhere: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.assets or self.columns)

    def of(self, pks: Collection[int], *, others: bool = False) -> Description:
        """The part about the assets `pks`, or about all but these."""
        assets = [one for one in self.assets if (one[0] in pks) is not others]
        return Description(assets, [one for one in self.columns if (one[0] in pks) is not others], self.elsewhere)

    def write(self) -> None:
        """Write all of it; the caller's transaction."""
        bulk.update(Asset, ("kind", "description"), self.assets)
        bulk.put(ColumnList, ("asset_id", "items"), self.columns, key="asset_id")

    def write_in_chunks(self) -> Described:
        """Write all of it, in short transactions of its own that take turns with other writers; what changed."""
        for assets in chunks(self.assets, CHUNK):
            with transaction():
                hold_graph()
                bulk.update(Asset, ("kind", "description"), assets)
        for columns in chunks(self.columns, CHUNK):
            with transaction():
                hold_graph()
                bulk.put(ColumnList, ("asset_id", "items"), columns, key="asset_id")
        return Described([one[0] for one in self.assets], [one[0] for one in self.columns])


def ensure(drafts: Iterable[NodeDraft]) -> dict[DatasetName, Known]:
    """The assets that `drafts` mean, by identity; those that are not there yet are made."""
    wanted = best((draft.identity, draft) for draft in drafts)
    found = existing(wanted)
    # In one order, so that two imports of the same new tables do not wait for each other in a circle.
    new = [draft for identity, draft in sorted(wanted.items()) if identity not in found]
    for chunk in chunks(new, CHUNK):
        with transaction():
            rows = [(*draft.identity, draft.kind, draft.description) for draft in chunk]
            bulk.insert(Asset, ("namespace", "name", "kind", "description"), rows, ignore=True)
    return found | existing([draft.identity for draft in new])


def describe(drafts: Iterable[NodeDraft], assets: Mapping[DatasetName, Known], source_key: str) -> Described:
    """Bring kind, description and columns of the drafts' `assets` up to what is claimed; returns what changed."""
    return wanted(drafts, assets, source_key).write_in_chunks()


def wanted(drafts: Iterable[NodeDraft], assets: Mapping[DatasetName, Known], source_key: str) -> Description:
    """What `describe` would write. Reads only.

    A claim that ranks below another source's (who reads a table below who builds it) only fills what is empty.
    """
    found = best((assets[draft.identity].pk, draft) for draft in drafts)
    by_pk = {asset.pk: asset for asset in assets.values()}
    return description([(by_pk[pk], draft) for pk, draft in found.items()], source_key)


def description(pairs: Sequence[tuple[Known, NodeDraft]], source_key: str) -> Description:
    """As `wanted`, for one draft an asset."""
    above = _ranks_elsewhere([asset.pk for asset, _ in pairs], source_key)
    return Description(list(_assets(pairs, above)), list(_columns(pairs, above)), frozenset(above))


def known(pks: Sequence[int]) -> dict[int, Known]:
    """These assets, by id."""
    rows = Asset.objects.filter(pk__in=among(pks)).order_by().values_list("pk", "kind", "description")
    return {row[0]: Known(*row) for row in rows}


def best(drafts: Iterable[tuple[T, NodeDraft]]) -> dict[T, NodeDraft]:
    """Of several drafts under one key that of the highest rank: who builds a table says what it is."""
    found: dict[T, NodeDraft] = {}
    for key, draft in drafts:
        other = found.get(key)
        if other is None or RANK.get(draft.kind, 0) > RANK.get(other.kind, 0):
            found[key] = draft
    return found


def by_local_id(names: Sequence[str], *, besides: str) -> dict[str, int]:
    """The assets that sources other than `besides` know under these dbt ids: where a cross-project reference leads."""
    described = Q(attributes__external__isnull=True)
    claims = NodeClaim.objects.filter(described, local_id__in=among(names), removed_in__isnull=True, source__kind="dbt")
    return dict(claims.exclude(source__key=besides).order_by("pk").values_list("local_id", "asset_id"))


def existing(wanted: Iterable[DatasetName]) -> dict[DatasetName, Known]:
    """The assets of these identities; those that are not there are left out. One query a namespace."""
    by_namespace: dict[str, list[str]] = defaultdict(list)
    for namespace, name in wanted:
        by_namespace[namespace].append(name)
    found: dict[DatasetName, Known] = {}
    for space, names in by_namespace.items():
        rows = Asset.objects.filter(namespace=space, name__in=among(names)).order_by()
        for name, pk, kind, text in rows.values_list("name", "pk", "kind", "description"):
            found[DatasetName(space, name)] = Known(pk, kind, text)
    return found


def _ranks_elsewhere(pks: Sequence[int], source_key: str) -> dict[int, int]:
    """The highest rank that another source's standing claim gives each asset."""
    found: dict[int, int] = {}
    claims = NodeClaim.objects.filter(asset__in=among(pks), removed_in__isnull=True).exclude(source__key=source_key)
    for pk, kind in claims.values_list("asset_id", KeyTextTransform("kind", "attributes")):
        found[pk] = max(found.get(pk, 0), RANK.get(kind or "", 0))
    return found


def _assets(pairs: Sequence[tuple[Known, NodeDraft]], above: Mapping[int, int]) -> Iterator[tuple[int, str, str]]:
    for asset, draft in pairs:
        ours = asset.pk not in above or RANK.get(draft.kind, 0) > above[asset.pk]
        kind = draft.kind if ours else asset.kind
        text = draft.description if ours or not asset.description else asset.description
        if (kind, text) != (asset.kind, asset.description):
            yield asset.pk, kind, text


def _columns(pairs: Sequence[tuple[Known, NodeDraft]], above: Mapping[int, int]) -> Iterator[tuple[int, str]]:
    pks = [asset.pk for asset, draft in pairs]
    before = dict(ColumnList.objects.filter(asset__in=among(pks)).values_list("asset_id", "items"))
    for asset, draft in pairs:
        known = before.get(asset.pk, [])
        ours = asset.pk not in above or RANK.get(draft.kind, 0) >= above[asset.pk]
        items = _merge(known, draft, ours=ours) if known else _new(draft)
        if items != known:
            yield asset.pk, orjson.dumps(items).decode()


def _new(draft: NodeDraft) -> list[Item]:
    named = {column.name: column for column in draft.columns}
    return [_updated(None, column, ours=True) for column in named.values()]


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
        return {"name": new.name, "type": new.data_type, "description": new.description, "nullable": new.nullable}
    text = new.description if ours or not old["description"] else old["description"]
    nullable = old["nullable"] if new.nullable is None else new.nullable
    return {**old, "type": new.data_type or old["type"], "description": text, "nullable": nullable}
