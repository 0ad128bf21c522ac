"""From the words of a declaration to rows: who is meant, which tables, which readers. Only reads; what is new is made
when it is kept."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from catalog.declared_readers import NAMESPACE
from catalog.models import Asset, Domain
from catalog.models.graph import AssetQuerySet
from catalog.names import find_each
from catalog.reader_identity import find_all
from catalog.services.declarations import READER, Told
from catalog.services.fields import RoleRow, named_domain
from catalog.sources.declared import AssetEntry, ConsumerEntry, Document
from catalog.sources.declared_entry import Roles
from foundation.errors import BadInput, Conflict, NotFound, SpellbookError
from foundation.models import Person

Found: TypeAlias = Asset | SpellbookError
T = TypeVar("T")


@dataclass
class Batch:
    """A declaration whose names are resolved. A reader that is new is an asset without a primary key until `make`."""

    assets: list[tuple[Asset, AssetEntry]] = field(default_factory=list)
    readers: list[tuple[Asset, ConsumerEntry]] = field(default_factory=list)
    notes: list[tuple[Asset, str]] = field(default_factory=list)
    names: dict[str, Found] = field(default_factory=dict)
    people: dict[str, Person] = field(default_factory=dict)
    domains: dict[str, str] = field(default_factory=dict)
    unmatched: list[dict[str, str]] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)
    looked_up: set[str] = field(default_factory=set)

    def make(self) -> None:
        """Make the assets of new readers: one that nothing claims yet is in no graph."""
        new = [asset for asset, _ in self.readers if not is_known(asset)]
        rows = [Asset(namespace=asset.namespace, name=asset.name, kind=asset.kind) for asset in new]
        Asset.objects.bulk_create(rows, ignore_conflicts=True)  # somebody may declare the same reader at this moment
        for space in {asset.namespace for asset in new}:
            mine = {asset.name: asset for asset in new if asset.namespace == space}
            for pk, name in Asset.objects.filter(namespace=space, name__in=list(mine)).values_list("pk", "name"):
                mine[name].pk = pk


def is_known(asset: Asset) -> bool:
    """Whether it has a row already."""
    return vars(asset).get("id") is not None


def resolve(document: Document, *, pool: AssetQuerySet | None = None, coming: Collection[str] = ()) -> Batch:
    """Find everything that `document` names, among `pool` (default: all assets); people whose addresses are `coming`
    are still to be made.

    BadInput for a person or domain that does not exist, a name that means several things, a reader told of twice;
    Conflict for a new reader whose name an asset outside of `pool` has.
    """
    batch = Batch(people=people(document.emails() - set(coming)))
    batch.domains = _domains(document)
    batch.readers = _readers(document.consumers, pool)
    batch.names = names_of(document, batch.readers, pool)
    refuse_ambiguous(batch.names)
    batch.assets = list(_known(batch, "assets", [(entry.asset, entry) for entry in document.assets]))
    list(_known(batch, "confirm", [(name, name) for name in document.confirmed()]))
    batch.notes = list(_known(batch, "notes", [(entry.asset, entry.text) for entry in document.notes]))
    return batch


def people(emails: Iterable[str]) -> dict[str, Person]:
    """The active people with these addresses; BadInput when one is missing."""
    wanted = set(emails)
    found = {person.email: person for person in Person.objects.filter(email__in=wanted, is_active=True)}
    for email in sorted(wanted - found.keys()):
        raise BadInput(f"There is no active person with the address {email}.")
    return found


def names_of(
    document: Document, known: Sequence[tuple[Asset, ConsumerEntry]], pool: AssetQuerySet | None
) -> dict[str, Found]:
    """What each name of `document` means: a reader of the document itself goes before what is in the graph."""
    here = {entry.name.casefold(): asset for asset, entry in known}
    wanted = document.reads() | document.about() | set(document.confirmed())
    elsewhere = find_each({name for name in wanted if name.strip().casefold() not in here}, among=pool)
    return {name: elsewhere[name] if name in elsewhere else here[name.strip().casefold()] for name in wanted}


def more_names(names: set[str]) -> dict[str, Found]:
    """What names mean that were declared before."""
    return {**find_each(names)}


def refuse_ambiguous(names: Mapping[str, Found]) -> None:
    """BadInput for the first name that means several things."""
    for found in names.values():
        if isinstance(found, SpellbookError) and not isinstance(found, NotFound):
            raise found


def told(batch: Batch, *, texts: bool) -> dict[int, Told]:
    """What `batch` says of each asset, as it is kept; `texts`: its definitions and notes too."""
    found: dict[int, Told] = {}
    listed: list[tuple[Asset, Mapping[str, Any], Roles]] = [
        *((asset, entry.said, entry.roles) for asset, entry in batch.assets),
        *((asset, {**entry.said, READER: True}, entry.roles) for asset, entry in batch.readers),
        *((asset, {"notes": [text]}, {}) for asset, text in batch.notes if texts),
    ]
    for asset, said, roles in listed:
        kept = {name: value for name, value in said.items() if _is_kept(batch, name, value, texts=texts)}
        mine = {name: _plain(batch, name, value) for name, value in kept.items()}
        one = Told(mine, _roles(batch, roles), list(roles))
        found[asset.pk] = _both(found[asset.pk], one) if asset.pk in found else one
    return found


def definitions(batch: Batch) -> list[tuple[Asset, str]]:
    """The definitions that it gives."""
    entries: list[tuple[Asset, AssetEntry | ConsumerEntry]] = [*batch.assets, *batch.readers]
    return [(asset, entry.said["definition"]) for asset, entry in entries if entry.said.get("definition")]


def _readers(entries: Sequence[ConsumerEntry], pool: AssetQuerySet | None) -> list[tuple[Asset, ConsumerEntry]]:
    found, seen = [], set()
    for entry, known in zip(entries, find_all(entries, pool), strict=True):
        if isinstance(known, SpellbookError):
            raise known
        asset = known or new_reader(entry)
        identity = (asset.namespace, asset.name)
        if identity in seen:
            raise BadInput(f"The reader {entry.name} is declared twice.")
        seen.add(identity)
        found.append((asset, entry))
    if pool is not None:
        _refuse_taken([asset for asset, _ in found if not is_known(asset)])
    return found


def _refuse_taken(new: Sequence[Asset]) -> None:
    """What looks new may be there, out of sight: its row must not be written by who cannot see it (D1)."""
    rows = Asset.objects.filter(name__in=[asset.name for asset in new])
    taken = set(rows.values_list("namespace", "name")) if new else set()
    for asset in new:
        if (asset.namespace, asset.name) in taken:
            raise Conflict(f"The name {asset.name} is taken by something else; choose another.")


def new_reader(entry: ConsumerEntry) -> Asset:
    """A reader that nobody knows yet, not saved."""
    return Asset(namespace=entry.namespace or NAMESPACE, name=entry.name, kind=entry.kind)


def _domains(document: Document) -> dict[str, str]:
    """The key of each domain that is named; one of the document itself need not exist yet."""
    own = {name: entry.key for entry in document.domains for name in (entry.key, entry.name)}
    named = {str(entry.said["domain"]) for entry in document.spoken() if entry.said.get("domain")}
    return {name: own.get(name) or _key(named_domain(name)) for name in named}


def _key(domain: Domain | None) -> str:
    return domain.key if domain is not None else ""


def _known(batch: Batch, where: str, named: Sequence[tuple[str, T]]) -> Iterator[tuple[Asset, T]]:
    """The assets that are known, each with what is said of it; the others are listed as unmatched."""
    for name, one in named:
        found = batch.names[name]
        if isinstance(found, Asset):
            yield found, one
        else:
            batch.unmatched.append({"in": where, "name": name})


def _is_kept(batch: Batch, name: str, value: Any, *, texts: bool) -> bool:
    """A domain that nobody knows is not said at all; definitions of people are kept as definitions alone."""
    return (name != "domain" or not value or value in batch.domains) and (texts or name != "definition")


def _plain(batch: Batch, name: str, value: Any) -> Any:
    if name == "domain":
        return batch.domains[value] if value else ""
    if name == "confirm" and value:
        source = batch.names.get(value["source"])
        return {**value, "source_id": source.pk} if isinstance(source, Asset) else value
    return value


def _roles(batch: Batch, roles: Roles) -> set[RoleRow]:
    rows: set[RoleRow] = set()
    for role, listed in roles.items():
        for who in listed:
            person = batch.people.get(who.email)
            rows.add((role, person.pk, "") if person is not None else (role, None, who.label or who.email))
    return rows


def _both(first: Told, second: Told) -> Told:
    said = {**first.said, **second.said}
    if "notes" in first.said and "notes" in second.said:
        said["notes"] = [*first.said["notes"], *second.said["notes"]]
    return Told(said, {*first.roles, *second.roles}, [*first.named, *second.named])
