"""The rows of datasets: which asset each is, what producers said of it, and when that asset is another one now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog.identity import identities
from catalog.models import LineageDataset, LineageUse, NodeClaim
from catalog.services import assets
from catalog.services.access import permit
from catalog.sources.claims import NodeDraft
from catalog.sources.naming import DatasetName
from catalog.sources.openlineage import facets
from catalog.sources.openlineage.events import Dataset
from foundation import bulk
from foundation.audit import Actor
from foundation.canonical import timestamp
from foundation.errors import NotAllowed

if TYPE_CHECKING:
    from catalog.services.lineage_batch import Told

CHUNK = 200


@dataclass(frozen=True)
class Meant:
    """What a producer's name of a dataset means: the name of the table that it is, its identity here, its asset."""

    table: DatasetName
    identity: DatasetName
    asset: int


@dataclass(frozen=True)
class Kept:
    """The rows of the datasets that a batch names, and the assets whose claims may differ for another reason than a
    job: described, gone, back, or another asset than before."""

    rows: Mapping[DatasetName, LineageDataset]
    touched: set[int]


@dataclass(frozen=True)
class _State:
    """A row as it was before the batch."""

    asset: int
    dropped: bool
    described: bool
    said: facets.Said

    @classmethod
    def of(cls, row: LineageDataset) -> _State:
        return cls(row.asset_id, row.dropped, row.described, row.said)

    def differs(self, row: LineageDataset) -> bool:
        """Whether the claims about the dataset may differ now; that the same was said again does not make them."""
        same = (self.asset, self.dropped, self.described) == (row.asset_id, row.dropped, row.described)
        return not same or facets.values(self.said) != facets.values(row.said)


def meet(mentions: Iterable[tuple[Actor, Dataset, int]]) -> dict[DatasetName, Meant]:
    """What each named dataset means; assets that are not there yet are made (they are in no graph without a claim)."""
    tables: dict[DatasetName, DatasetName] = {}
    linked: dict[DatasetName, list[tuple[Actor, DatasetName]]] = defaultdict(list)
    unbuilt: set[DatasetName] = set()
    for sender, dataset, _ in mentions:
        tables.setdefault(dataset.name, dataset.name)
        if facets.told(dataset.facets).get("materialized") == "ephemeral":
            unbuilt.add(dataset.name)
        table = facets.table_of(dataset.facets)
        if table is not None:
            linked[dataset.name].append((sender, table))
    known = existing(tables)
    tables |= {name: DatasetName(row.meant_namespace, row.meant_name) for name, row in known.items()}
    found = identities({*tables, *tables.values(), *(table for links in linked.values() for _, table in links)})
    for name, links in linked.items():
        for sender, table in links:
            if all(may_write(sender, found[one].namespace) for one in (name, table)):
                tables[name] = table
    without = _ephemeral(unbuilt, found)
    tables |= without
    identity = {name: found[table] for name, table in tables.items() if name not in without} | without
    rows = assets.ensure(_draft(one) for one in set(identity.values()))
    return {name: Meant(tables[name], identity[name], rows[identity[name]].pk) for name in tables}


def keep(told: Sequence[Told], meant: Mapping[DatasetName, Meant]) -> Kept:
    """Write what these events say of datasets."""
    rows = existing({dataset.name for one in told for dataset, _ in one.mentions()})
    before = {name: _State.of(row) for name, row in rows.items()}
    for one in told:
        for dataset, rank in one.mentions():
            row = rows.get(dataset.name)
            if row is None:
                row = rows[dataset.name] = LineageDataset(**dataset.name._asdict(), told_at=one.row.at)
            _hear(row, one, dataset, rank, meant[dataset.name])
    _write([row for name, row in rows.items() if _State.of(row) != before.get(name)])
    known = [(row, before[name]) for name, row in rows.items() if name in before]
    turned = [row for row, was in known if (was.asset, was.dropped) != (row.asset_id, row.dropped)]
    touched = {row.asset_id for name, row in rows.items() if name not in before or before[name].differs(row)}
    touched |= {was.asset for row, was in known if was.asset != row.asset_id}
    return Kept(rows, touched | _around(turned))


def may_write(sender: Actor, namespace: str) -> bool:
    """Whether the sender of an event may say something of a dataset in `namespace`."""
    try:
        permit(sender, namespace)
    except NotAllowed:
        return False
    return True


def existing(names: Iterable[DatasetName]) -> dict[DatasetName, LineageDataset]:
    """The rows of these names."""
    spaces: dict[str, list[str]] = defaultdict(list)
    for space, name in names:
        spaces[space].append(name)
    found: dict[DatasetName, LineageDataset] = {}
    for space, inside in spaces.items():
        for start in range(0, len(inside), CHUNK):
            part = LineageDataset.objects.filter(namespace=space, name__in=inside[start : start + CHUNK])
            found |= {_name(row): row for row in part}
    return found


def _hear(row: LineageDataset, one: Told, dataset: Dataset, rank: int, meant: Meant) -> None:
    row.meant_namespace, row.meant_name = meant.table
    row.asset_id = meant.asset
    if not may_write(one.sender, meant.identity.namespace):
        return  # it may read there, and says nothing of what it reads
    row.said = facets.merge(row.said, facets.told(dataset.facets), rank, timestamp(one.row.at))
    row.described = row.described or one.event.described is not None
    if one.row.at >= row.told_at:
        row.dropped = facets.dropped(dataset.facets)
        row.told_at = one.row.at


def _write(changed: Sequence[LineageDataset]) -> None:
    old = [row for row in changed if row.pk]
    fields = ["meant_namespace", "meant_name", "asset_id", "said", "described", "dropped", "told_at"]
    bulk.update(LineageDataset, fields, [(row.pk, *(getattr(row, field) for field in fields)) for row in old])
    LineageDataset.objects.bulk_create([row for row in changed if not row.pk], batch_size=CHUNK)


def _around(rows: Sequence[LineageDataset]) -> set[int]:
    """The assets of all that the jobs of these datasets use: what one of them is decides what feeds the others."""
    jobs = LineageUse.objects.filter(dataset__in=[row.pk for row in rows]).values("job")
    return {
        *(row.asset_id for row in rows),
        *LineageUse.objects.filter(job__in=jobs).values_list("dataset__asset", flat=True),
    }


def _ephemeral(
    names: Iterable[DatasetName], found: Mapping[DatasetName, DatasetName]
) -> dict[DatasetName, DatasetName]:
    """The identities of ephemeral models: dbt's events name the table that each would be, and its manifest says that
    there is none. Where no manifest tells, or several do, the name stays."""
    known: dict[DatasetName, DatasetName] = {}
    for name in names:
        space, full = found[name]
        claims = NodeClaim.objects.filter(source__kind="dbt", removed_in__isnull=True, asset__namespace=space)
        claims = claims.filter(attributes__materialized="ephemeral", attributes__name=full.rpartition(".")[2])
        assets_ = set(claims.values_list("asset__namespace", "asset__name")[:2])
        if len(assets_) == 1:
            known[name] = DatasetName(*assets_.pop())
    return known


def _draft(identity: DatasetName) -> NodeDraft:
    return NodeDraft(local_id="", identity=identity, kind="table", description="", attributes={})


def _name(row: LineageDataset) -> DatasetName:
    return DatasetName(row.namespace, row.name)
