"""Sources that say all they have to say at once (dbt's meta, a file of a repository): read with patience, kept whole.

What of it cannot be used is told, and the rest counts; what it says no more is withdrawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catalog.models import Asset, Domain, Note
from catalog.names import find_each
from catalog.reader_identity import find_all
from catalog.services import batches, declarations, definitions, notes
from catalog.services.batches import Batch
from catalog.services.declare import DeclareReport, apply
from catalog.sources.declared import ConsumerEntry, Document
from catalog.words import slug
from foundation import people
from foundation.audit import Actor
from foundation.errors import SpellbookError
from foundation.models import Person


@dataclass(frozen=True)
class Part:
    """A part of what a source says; `own` is the asset that its entries mean, whatever they call it."""

    where: str
    document: Document
    own: Asset | None = None


def gather(parts: Sequence[Part], told: Callable[[str, str], None]) -> Batch:
    """Find everything that the parts name; `told(where, reason)` hears what cannot be used and is left out."""
    batch = Batch(people=_people(parts), domains=_domains(parts, told))
    unnamed = [entry for part in parts if not _is_exposure(part) for entry in part.document.consumers]
    known = dict(zip(map(id, unnamed), find_all(unnamed), strict=True)) if unnamed else {}
    for part in parts:
        if part.own is not None:
            batch.names |= dict.fromkeys(part.document.about(), part.own)
        for entry in part.document.consumers:
            _reader(batch, part, entry, part.own if _is_exposure(part) else known[id(entry)], told)
    batch.names |= find_each(_named(parts) - batch.names.keys())
    for part in parts:
        _assets(batch, part, told)
    return batch


def keep(batch: Batch, *, key: str, actor: Actor) -> DeclareReport:
    """Keep `batch` as all that source `key` says. It is the word of the source, whoever happened to bring it here."""
    mine = Actor(people.system("declarations"), actor.source, actor.correlation_id)
    before, report = declarations.said_by(key), DeclareReport()
    apply(batch, report, key=key, actor=mine, whole=True)
    now = declarations.said_by(key)
    differ = [pk for pk in {*before, *now} if _texts(before.get(pk)) != _texts(now.get(pk))]
    for pk, asset in Asset.objects.in_bulk(differ).items():
        _keep_texts(asset, _texts(before.get(pk)), _texts(now.get(pk)), report, mine)
    return report


def _keep_texts(
    asset: Asset, before: tuple[str, list[str]], now: tuple[str, list[str]], report: DeclareReport, actor: Actor
) -> None:
    if now[0] and now[0] != before[0]:
        report.definitions += definitions.define(asset, now[0], actor=actor) is not None
    report.notes += sum(notes.write(asset, text, actor=actor) is not None for text in now[1] if text not in before[1])
    gone = [text for text in before[1] if text not in now[1]]
    for row in Note.objects.filter(asset=asset, text__in=gone, status="standing", approved_by__isnull=True):
        notes.withdraw(row, actor=actor)


def _texts(said: Mapping[str, Any] | None) -> tuple[str, list[str]]:
    return (said or {}).get("definition", ""), (said or {}).get("notes", [])


def _people(parts: Sequence[Part]) -> dict[str, Person]:
    """The people who are known here; of the others the address alone is kept."""
    emails = sorted({email for part in parts for email in part.document.emails()})
    found: dict[str, Person] = {}
    for start in range(0, len(emails), 500):
        rows = Person.objects.filter(email__in=emails[start : start + 500], is_active=True)
        found |= {person.email: person for person in rows}
    return found


def _domains(parts: Sequence[Part], told: Callable[[str, str], None]) -> dict[str, str]:
    known = {name: domain.key for domain in Domain.objects.all() for name in (domain.name, domain.key)}
    found = {}
    for part in parts:
        for entry in part.document.spoken():
            name = entry.said.get("domain")
            key = known.get(name or "") or known.get(slug(name or ""))
            if key is not None:
                found[str(name)] = key
            elif name:
                told(part.where, f"there is no domain {name}")
    return found


def _is_exposure(part: Part) -> bool:
    return part.own is not None and not part.document.assets


def _reader(
    batch: Batch,
    part: Part,
    entry: ConsumerEntry,
    known: Asset | SpellbookError | None,
    told: Callable[[str, str], None],
) -> None:
    if isinstance(known, SpellbookError):
        told(part.where, str(known))
        return
    asset = known or batches.new_reader(entry)
    identity = (asset.namespace, asset.name)
    if identity in batch.seen:
        told(part.where, f"the reader {entry.name} is declared twice")
        return
    batch.seen.add(identity)
    batch.readers.append((asset, entry))
    batch.names.setdefault(entry.name, asset)


def _named(parts: Sequence[Part]) -> set[str]:
    found: set[str] = set()
    for part in parts:
        found |= part.document.reads() | part.document.about() | set(part.document.confirmed())
    return found


def _assets(batch: Batch, part: Part, told: Callable[[str, str], None]) -> None:
    def known(name: str) -> Asset | None:
        found = part.own or batch.names[name]
        if isinstance(found, Asset):
            return found
        told(part.where, str(found).removesuffix("."))
        return None

    batch.assets += [(asset, entry) for entry in part.document.assets if (asset := known(entry.asset))]
    batch.notes += [(asset, entry.text) for entry in part.document.notes if (asset := known(entry.asset))]
