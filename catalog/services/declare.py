"""What people declare about the graph: domains, who answers for what, readers and when they read, notes.

A declaration adds to what was declared before and changes what it names; nothing is withdrawn by leaving it out. It is
all or nothing: one unusable entry and none of it is kept. Names of tables that are not known are no error: they are
listed, and joined when an import brings the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from catalog import actions
from catalog.models import Asset, Domain, Note
from catalog.names import find_asset
from catalog.services import readers
from catalog.services.access import is_agent, person_of
from catalog.services.fields import named_domain, set_fields, set_roles
from catalog.sources.declared import AssetEntry, ConsumerEntry, DomainEntry, NoteEntry, parse
from foundation import audit, clock
from foundation.audit import Actor
from foundation.errors import BadInput, NotAllowed, NotFound
from foundation.locks import transaction
from foundation.models import Person


@dataclass
class DeclareReport:
    """What a declaration did: names of what it changed, `unmatched` what it names and nobody knows, `ignored` its keys
    that mean nothing on this floor."""

    graph_version: int = 0
    domains: list[str] = field(default_factory=list)
    assets: list[str] = field(default_factory=list)
    consumers: list[str] = field(default_factory=list)
    notes: int = 0
    unmatched: list[dict[str, str]] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON; an item of `unmatched` is {in, name}."""
        return {
            "graph_version": self.graph_version,
            "domains": self.domains,
            "assets": self.assets,
            "consumers": self.consumers,
            "notes": self.notes,
            "unmatched": self.unmatched,
            "ignored": self.ignored,
        }


def declare(document: Mapping[str, Any], *, actor: Actor) -> DeclareReport:
    """Keep what `document` declares (see `catalog.sources.declared` for its form).

    What an agent declares is a suggestion: its readers and notes stand without approval, people and domains it may not
    name, and a reader that a person approved it may not change (NotAllowed). BadInput for unusable entries.
    """
    wanted = parse(document)
    if is_agent(actor) and (wanted.domains or wanted.emails() or wanted.assets):
        raise NotAllowed("An agent may suggest readers and notes, not domains and the people of assets.")
    people = _people(wanted.emails())
    report = DeclareReport(ignored=list(wanted.ignored))
    with transaction():
        for domain in wanted.domains:
            _domain(domain, people, report, actor)
        found = [(readers.reader(entry), entry) for entry in wanted.consumers]
        for entry in wanted.assets:
            _asset(entry, people, report, actor)
        for reader, consumer in found:
            _consumer(reader, consumer, people, report, actor)
        report.graph_version, missing = readers.claim(found, actor=actor)
        report.unmatched += missing
        for note in wanted.notes:
            _note(note, report, actor)
    return report


def _people(emails: set[str]) -> dict[str, Person]:
    found = {person.email: person for person in Person.objects.filter(email__in=emails, is_active=True)}
    for email in sorted(emails - found.keys()):
        raise BadInput(f"There is no active person with the address {email}.")
    return found


def _domain(entry: DomainEntry, people: Mapping[str, Person], report: DeclareReport, actor: Actor) -> None:
    domain, created = Domain.objects.get_or_create(key=entry.key, defaults={"name": entry.name})
    wanted: dict[str, Any] = {"name": entry.name, "restricted": entry.restricted}
    wanted["owner"] = people[entry.owner] if entry.owner else None
    wanted["on_call"] = people[entry.on_call] if entry.on_call else None
    if set_fields(domain, wanted) or created:
        report.domains.append(domain.key)
        audit.record(actor, actions.DOMAIN_DECLARED, domain, facts={"domain": domain.name})


def _asset(entry: AssetEntry, people: Mapping[str, Person], report: DeclareReport, actor: Actor) -> None:
    asset = _known(entry.asset, "assets", report)
    if asset is None:
        return
    changed = set_fields(asset, {"domain": named_domain(entry.domain)})
    if set_roles(asset, entry.roles, people) or changed:
        report.assets.append(asset.name)
        audit.record(actor, actions.ASSET_DECLARED, asset, facts={"asset": asset.name})


def _consumer(
    reader: Asset, entry: ConsumerEntry, people: Mapping[str, Person], report: DeclareReport, actor: Actor
) -> None:
    source = _known(entry.confirm_source, reader.name, report) if entry.confirm_source else None
    if readers.keep(reader, entry, people, source, actor=actor):
        report.consumers.append(reader.name)


def _note(entry: NoteEntry, report: DeclareReport, actor: Actor) -> None:
    asset = _known(entry.asset, "notes", report)
    if asset is None:
        return
    moment, person = clock.now(), person_of(actor)
    approval = {"approved_by": person, "approved_at": moment} if person else {}
    known = Note.objects.filter(asset=asset, text=entry.text).first()
    if known is not None and (known.approved_by_id is not None or not approval):
        return
    if known is not None:
        Note.objects.filter(pk=known.pk, approved_by__isnull=True).update(**approval)
    else:
        known = Note.objects.create(asset=asset, text=entry.text, author=actor.principal, created_at=moment, **approval)
    report.notes += 1
    audit.record(actor, actions.NOTE_WRITTEN, known, facts={"asset": asset.name})


def _known(name: str, where: str, report: DeclareReport) -> Asset | None:
    """The asset of that name; None, and listed in the report, when nobody knows it. BadInput when it is ambiguous."""
    try:
        return find_asset(name)
    except NotFound:
        report.unmatched.append({"in": where, "name": name})
        return None
