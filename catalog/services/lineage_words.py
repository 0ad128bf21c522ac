"""What producers say of assets, spread to where it is read: descriptions and columns, owners, column lineage, search.

What a page shows of an asset is written in the step that makes the version; what is worked out from it follows after
the batch, outside of its lock, and doing it again changes nothing. What people declared, and what the project that
builds a table says of it, goes before.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog.column_lineage import facet
from catalog.declared_readers import NAMESPACE
from catalog.identity import identities
from catalog.models import Asset, AssetRole, NodeClaim
from catalog.selectors import assets_by_id
from catalog.services import assets, column_lineage, lineage_claims, lineage_datasets, reading, search_index
from catalog.sources.claims import ColumnDraft, NodeDraft
from catalog.sources.naming import DatasetName, canonical
from catalog.sources.openlineage import facets
from catalog.sources.openlineage.facets import Said
from foundation.audit import Actor
from foundation.bulk import among
from foundation.errors import BadInput
from foundation.models import Person

if TYPE_CHECKING:
    from catalog.services.lineage_batch import Told

KEY = lineage_claims.KEY
OWNER = "owner"


@dataclass(frozen=True)
class Described:
    """The assets whose description or columns changed, those whose columns did, and how many owners."""

    assets: frozenset[int]
    columns: frozenset[int]
    owners: int

    def __bool__(self) -> bool:
        return bool(self.assets or self.owners)


def describe(touched: Iterable[int]) -> Described:
    """Bring description, columns and owners of the assets `touched` up to what is said of them; readers that stand
    under the name of our own are what people say that they are.

    Inside of the transaction that makes the version in which they are claimed.
    """
    said = lineage_claims.said_of(touched)
    elsewhere = _elsewhere(list(said))
    rows = [asset for asset in assets_by_id(said).values() if asset.namespace != NAMESPACE]
    drafts = [_draft(asset, said[asset.pk], asset.pk not in elsewhere) for asset in rows]
    found = assets.wanted(drafts, assets.ensure(drafts), KEY)
    found.write()
    columns = frozenset(pk for pk, _ in found.columns)
    return Described(columns | {one[0] for one in found.assets}, columns, _own(said))


def spread(touched: Iterable[int], columns: Collection[int], told: Sequence[Told], *, actor: Actor) -> None:
    """Bring all that follows from the assets `touched` up to them: column lineage, readers, the search.

    `columns` are those whose columns changed, `told` the events behind it.
    """
    pks = sorted(set(touched))
    if not pks:
        return
    column_lineage.columns_changed(sorted(columns))
    _columns(set(pks), told)
    reading.join(actor=actor)
    search_index.refresh(pks)


def _elsewhere(pks: Sequence[int]) -> set[int]:
    """Those of these assets that another source knows too."""
    claims = NodeClaim.objects.filter(asset__in=among(pks), removed_in__isnull=True).exclude(source__key=KEY)
    return set(claims.values_list("asset_id", flat=True))


def _draft(asset: Asset, said: Said, alone: bool) -> NodeDraft:
    """`alone`: no other source knows the asset, so that the list of its columns counts as whole."""
    columns = tuple(ColumnDraft(*column) for column in facets.value(said, "columns") or ())
    return NodeDraft(
        local_id="",
        identity=DatasetName(asset.namespace, asset.name),
        kind=lineage_claims.kind_of(said),
        description=facets.value(said, "description") or "",
        attributes={},
        columns=columns,
        measured=alone and bool(columns),
    )


def _own(said: Mapping[int, Said]) -> int:
    """Make the owners that producers name be exactly those, and say how many that changed; a name that is a person's
    address means that person."""
    wanted = {(pk, name) for pk, one in said.items() for name in facets.value(one, "owners") or ()}
    people = _people({name for _, name in wanted})
    rows = {
        (role.asset_id, role.person_id, role.label): role
        for role in AssetRole.objects.filter(source=KEY, asset__in=list(said))
    }
    keys = {(pk, people.get(_address(name)), "" if _address(name) in people else name) for pk, name in wanted}
    gone = [role.pk for key, role in rows.items() if key not in keys]
    new = [
        AssetRole(asset_id=pk, person_id=person, label=label, role=OWNER, source=KEY)
        for pk, person, label in sorted(keys - rows.keys(), key=str)
    ]
    AssetRole.objects.filter(pk__in=gone).delete()
    AssetRole.objects.bulk_create(new, ignore_conflicts=True)
    return len(gone) + len(new)


def _people(names: Iterable[str]) -> dict[str, int]:
    addresses = sorted({_address(name) for name in names if "@" in name})
    return dict(Person.objects.filter(email__in=addresses, is_active=True).values_list("email", "pk"))


def _address(name: str) -> str:
    """`user:somebody@example.com`, as the specification recommends it, or the bare address; in small letters."""
    return name.rpartition(":")[2].strip().lower()


def _columns(touched: Container[int], told: Sequence[Told]) -> None:
    """Give on the column lineage that stands now, where it is another one than before."""
    offered = _offered(told)
    rows = lineage_datasets.existing(name for name, _ in offered)
    standing = {(name, facets.value(row.said, "lineage")) for name, row in rows.items() if row.asset_id in touched}
    news = {name: said for (name, digest), said in offered.items() if (name, digest) in standing}
    named: set[DatasetName] = set()
    for said in news.values():
        facet.read(said, lambda space, table: named.add(DatasetName(space, table)))
    ids = _ids({name for name in named if _usable(name)})
    for name, said in news.items():
        columns = facet.read(said, lambda space, table: ids.get(DatasetName(space, table)))
        column_lineage.from_facet(rows[name].asset_id, KEY, columns)


def _offered(told: Sequence[Told]) -> dict[tuple[DatasetName, str | None], Mapping[str, Any]]:
    """The columnLineage facets of what is written, by dataset and digest (None: it is taken back)."""
    written = (dataset for one in told for dataset in one.event.written if "columnLineage" in dataset.facets)
    found = ((one.name, one.facets["columnLineage"]) for one in written)
    facts = ((name, said, facets.told({"columnLineage": said})) for name, said in found)
    return {(name, known["lineage"]): said for name, said, known in facts if "lineage" in known}


def _usable(name: DatasetName) -> bool:
    with suppress(BadInput):
        return bool(canonical(*name))
    return False


def _ids(names: Iterable[DatasetName]) -> dict[DatasetName, int]:
    """The assets that producers mean by these names; those that are not known are left out."""
    rows = {name: row.asset_id for name, row in lineage_datasets.existing(names).items()}
    others = identities(name for name in names if name not in rows)
    known = assets.existing(set(others.values()))
    return rows | {name: known[meant].pk for name, meant in others.items() if meant in known}
