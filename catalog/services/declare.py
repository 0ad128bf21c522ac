"""What people declare about the graph: domains, who answers for what, readers and when they read, notes.

A declaration adds to what was declared before and changes what it names; nothing is withdrawn by leaving it out, except
by a source that says all it has to say at once (a file of a repository). It is all or nothing: one unusable entry and
none of it is kept. Names of tables that are not known are no error: they are listed, and joined when an import brings
the table.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from catalog import actions
from catalog.declared_readers import NAMESPACE, standing, told_elsewhere
from catalog.models import Asset, Consumer, Domain
from catalog.services import batches, definitions, keeping, notes, reading
from catalog.services.access import changed_by, is_agent, permit, person_of, pool_of
from catalog.services.batches import Batch
from catalog.services.declarations import DECLARED, SUGGESTED
from catalog.services.fields import set_fields
from catalog.services.graph_lock import hold_graph
from catalog.services.reading import Reading
from catalog.sources.declared import Document, DomainEntry, parse
from foundation import audit
from foundation.audit import Actor
from foundation.errors import BadInput, NotAllowed, NotFound
from foundation.locks import transaction
from foundation.models import Person


@dataclass
class DeclareReport:
    """What a declaration did: names of what it changed, `unmatched` what it names and nobody knows, `ignored` its keys
    that mean nothing on this floor, `withdrawn` what a source that says all at once says no more."""

    graph_version: int = 0
    domains: list[str] = field(default_factory=list)
    assets: list[str] = field(default_factory=list)
    consumers: list[str] = field(default_factory=list)
    notes: int = 0
    definitions: int = 0
    unmatched: list[dict[str, str]] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON; an item of `unmatched` is {in, name}."""
        return {
            "graph_version": self.graph_version,
            "domains": self.domains,
            "assets": self.assets,
            "consumers": self.consumers,
            "notes": self.notes,
            "definitions": self.definitions,
            "unmatched": self.unmatched,
            "ignored": self.ignored,
            "withdrawn": self.withdrawn,
        }


@dataclass(frozen=True)
class Prepared:
    """A declaration with all that its names mean; people with the addresses `coming` are to be made before it is
    kept."""

    wanted: Document
    batch: Batch
    key: str
    coming: frozenset[str] = frozenset()


def declare(document: Mapping[str, Any], *, actor: Actor) -> DeclareReport:
    """Keep what `document` declares (see `catalog.sources.declared` for its form).

    What an agent declares is a suggestion until a person of the domain answers it; people and domains it may not name,
    and a reader that a person approved it may not change (NotAllowed). A person may not change what another domain
    answers for. BadInput for unusable entries.
    """
    return keep(prepare(document, actor=actor), actor=actor)


def prepare(document: Mapping[str, Any], *, actor: Actor, coming: Collection[str] = ()) -> Prepared:
    """Look up all that `document` names, which takes as long as there are assets, and so is done outside of the
    transaction in which it is kept. `coming` are addresses of people who are still to be made. Raises as `declare`."""
    wanted, key = parse(document), SUGGESTED if is_agent(actor) else DECLARED
    if is_agent(actor) and _names_people(wanted):
        raise NotAllowed("An agent may suggest readers, notes and definitions, not domains and the people of assets.")
    batch = batches.resolve(wanted, pool=pool_of(actor), coming=coming)
    _check(batch, wanted, actor)
    if is_agent(actor):
        _refuse_tables(batch)
    _reads(batch, key)
    return Prepared(wanted, batch, key, frozenset(coming) & wanted.emails())


def _refuse_tables(batch: Batch) -> None:
    """What dbt, a warehouse or an event tells of and nobody calls a reader is none because an agent says so."""
    known = [asset.pk for asset, _ in batch.readers if batches.is_known(asset)]
    tables = told_elsewhere(known) - set(Consumer.objects.filter(asset__in=known).values_list("asset_id", flat=True))
    for asset, _ in batch.readers:
        if asset.pk in tables:
            raise BadInput(
                f"{asset.name} is a {asset.kind}, not a reader; name the reader, and the {asset.kind} in `reads`."
            )


def keep(prepared: Prepared, *, actor: Actor) -> DeclareReport:
    """Keep what was prepared just now, in one transaction."""
    wanted, batch = prepared.wanted, prepared.batch
    report = DeclareReport(ignored=list(wanted.ignored), unmatched=[*batch.unmatched])
    with transaction():
        hold_graph()
        batch.people |= batches.people(prepared.coming)
        report.domains = [entry.key for entry in wanted.domains if _domain(entry, batch.people, actor)]
        apply(batch, report, key=prepared.key, actor=actor)
        report.definitions = sum(
            definitions.define(asset, text, actor=actor) is not None for asset, text in batches.definitions(batch)
        )
        report.notes = sum(notes.write(asset, text, actor=actor) is not None for asset, text in batch.notes)
    return report


def apply(batch: Batch, report: DeclareReport, *, key: str, actor: Actor, whole: bool = False) -> None:
    """Keep assets and readers of `batch` as the word of source `key`, `whole`: as all that it says; fill `report`."""
    batch.make()
    told = batches.told(batch, texts=whole)
    kept = keeping.keep(told, key, actor=actor, whole=whole)
    listed = _readings(batch, key, skipped=kept.skipped)
    report.graph_version = reading.claim(key, listed, batch.names, actor=actor, whole=whole)
    report.unmatched += _unmatched(key, listed)
    report.assets += [asset.name for asset, _ in batch.assets if asset.pk in kept.changed]
    report.consumers += [asset.name for asset, _ in batch.readers if asset.pk in kept.changed]
    report.withdrawn += list(Asset.objects.filter(pk__in=kept.gone).values_list("name", flat=True))


def _readings(batch: Batch, key: str, *, skipped: set[int]) -> list[Reading]:
    listed = _reads(batch, key)
    kinds = dict(Asset.objects.filter(pk__in=[asset.pk for asset, _ in listed]).values_list("pk", "kind"))
    return [Reading(asset.pk, kinds[asset.pk], reads) for asset, reads in listed if asset.pk not in skipped]


def _reads(batch: Batch, key: str) -> list[tuple[Asset, Sequence[str]]]:
    """What each reader reads: as the batch says, else as the source said before; what the names mean stands in the
    batch then, each looked up once."""
    before = {one.asset_id: one.attributes["reads"] for one in standing(key)}
    listed = [(asset, entry.said.get("reads", before.get(asset.pk, ()))) for asset, entry in batch.readers]
    again = _read_already({asset.pk: reads for asset, reads in listed if batches.is_known(asset)}, batch)
    new = ({name for _, reads in listed for name in reads} - batch.names.keys() | again) - batch.looked_up
    batch.names |= batches.more_names(new)
    batch.looked_up |= new
    return listed


def _read_already(readings: Mapping[int, Sequence[str]], batch: Batch) -> set[str]:
    """Names out of sight of the one who acts that a reader of the batch read before: it goes on reading them."""
    rows = standing().filter(asset__in=list(readings))
    return {
        name
        for pk, attributes in rows.values_list("asset_id", "attributes")
        for name in attributes["reads"]
        if name in readings[pk] and isinstance(batch.names.get(name), NotFound)
    }


def _unmatched(key: str, listed: Sequence[Reading]) -> list[dict[str, str]]:
    rows = standing(key).filter(asset__in=[one.asset_id for one in listed]).select_related("asset")
    return [{"in": one.asset.name, "name": name} for one in rows.order_by("pk") for name in one.attributes["unmatched"]]


def _names_people(wanted: Document) -> bool:
    named = any(entry.roles for entry in wanted.spoken()) or any("domain" in entry.said for entry in wanted.assets)
    return named or bool(wanted.domains)


def _check(batch: Batch, wanted: Document, actor: Actor) -> None:
    """NotAllowed for what the one who acts may not change."""
    if is_agent(actor):
        named = (batch.names[name] for name in wanted.reads() | wanted.about())
        meant = [*(found for found in named if isinstance(found, Asset)), *(asset for asset, _ in batch.readers)]
        spaces = {asset.namespace for asset in meant} - {NAMESPACE}
        for space in sorted(spaces | {entry.namespace for entry in wanted.consumers if entry.namespace}):
            permit(actor, space)
    person = person_of(actor)
    if person is None:
        return
    known_here = [asset for asset, _ in (*batch.assets, *batch.readers) if batches.is_known(asset)]
    mine = changed_by(person, known_here)
    for known in known_here:
        if known.pk not in mine:
            raise NotAllowed(f"Only a person of its domain, or one who is named for it, changes {known.name}.")
    for domain in wanted.domains:
        _check_domain(domain, person)


def _check_domain(entry: DomainEntry, person: Person) -> None:
    domain = Domain.objects.filter(key=entry.key).first()
    if domain is not None and person.pk != domain.owner_id and not person.is_admin:
        raise NotAllowed(f"Only the owner of {domain} or a person with the role admin changes it.")


def _domain(entry: DomainEntry, people: Mapping[str, Person], actor: Actor) -> bool:
    domain, created = Domain.objects.get_or_create(key=entry.key, defaults={"name": entry.name})
    wanted: dict[str, Any] = {"name": entry.name, "restricted": entry.restricted}
    wanted["owner"] = people[entry.owner] if entry.owner else None
    wanted["on_call"] = people[entry.on_call] if entry.on_call else None
    changed = set_fields(domain, wanted) or created
    if changed:
        audit.record(actor, actions.DOMAIN_DECLARED, domain, facts={"domain": domain.name})
    return changed
