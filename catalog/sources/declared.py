"""The form of a declaration: a mapping, as YAML or JSON gives it, becomes typed entries. No database.

    domains:   [{name, key?, owner?, on_call?, restricted?}]
    assets:    [{asset, domain?, definition?, owner?, operator?, business_owner?, on_call?, tool_admin?}]
    consumers: [{asset, kind?, namespace?, reads?, through?, domain?, definition?, the roles above,
                 schedule: {cron, zone?} or {triggered_by_api: true}, lead_minutes? or lead_seconds?, consequence?,
                 contact?, confirm: {metric, source}, tool?, mode?, delete_rule?, columns?}]
    notes:     [{asset, text}]

People are given by e-mail, one or a list; `{schedule: name}` or `{team: name}` stands for whom another tool knows. A
key that is left out says nothing; one that is empty says that there is none. Keys that mean nothing on this floor are
collected, not refused: an upper floor may own them. `columns` (those that a reader reads) is for the review of a change
alone: no table keeps it, so it is among what is collected too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, TypeVar

from catalog.sources.declared_entry import Entry, Roles
from catalog.sources.naming import printable
from catalog.words import ROLES
from foundation.errors import BadInput

MOST = 300
"""Entries of one document: all of them are kept in one short transaction (0.5 s on SQLite), or none."""


@dataclass(frozen=True)
class DomainEntry:
    """A domain; None means that the declaration does not say."""

    key: str
    name: str
    owner: str | None
    on_call: str | None
    restricted: bool | None


@dataclass(frozen=True)
class AssetEntry:
    """Who answers for an asset, and what it means. `said` may hold domain and definition."""

    asset: str
    said: Mapping[str, Any]
    roles: Roles


@dataclass(frozen=True)
class ConsumerEntry:
    """A reader: what it reads, when, and what follows from that.

    `said` may hold kind, reads (tables and other readers), schedule {cron, zone, triggered_by_api}, lead_seconds,
    consequence, contact, confirm {metric, source}, tool, mode, delete_rule, domain, definition: what the entry names.
    `columns` are the names of those that it reads, of whichever of its tables; None where that is not said.
    """

    name: str
    namespace: str
    said: Mapping[str, Any]
    roles: Roles
    columns: tuple[str, ...] | None = None

    @property
    def kind(self) -> str:
        """What it is when nobody else knows it."""
        return str(self.said.get("kind") or ("sync" if self.said.get("tool") else "dashboard"))


@dataclass(frozen=True)
class NoteEntry:
    """A sentence about an asset."""

    asset: str
    text: str


@dataclass(frozen=True)
class Document:
    """A whole declaration; `ignored` are its keys that were not read, such as `assets.watch`."""

    domains: tuple[DomainEntry, ...] = ()
    assets: tuple[AssetEntry, ...] = ()
    consumers: tuple[ConsumerEntry, ...] = ()
    notes: tuple[NoteEntry, ...] = ()
    ignored: tuple[str, ...] = field(default=())

    def emails(self) -> set[str]:
        """Every address that the document names."""
        found = {email for entry in self.domains for email in (entry.owner, entry.on_call) if email}
        return found | {
            one.email for entry in self.spoken() for who in entry.roles.values() for one in who if one.email
        }

    def spoken(self) -> list[AssetEntry | ConsumerEntry]:
        """The assets and readers of which it says something."""
        return [*self.assets, *self.consumers]

    def about(self) -> set[str]:
        """The names of assets that it describes."""
        return {entry.asset for entry in self.assets} | {entry.asset for entry in self.notes}

    def reads(self) -> set[str]:
        """The names of what its readers read."""
        return {name for entry in self.consumers for name in entry.said.get("reads", ())}

    def confirmed(self) -> list[str]:
        """The names of the tables in which its readers' values are confirmed."""
        return [entry.said["confirm"]["source"] for entry in self.consumers if entry.said.get("confirm")]


SECTIONS: Mapping[str, frozenset[str]] = {
    "domains": frozenset({"key", "name", "owner", "on_call", "restricted"}),
    "assets": frozenset({"asset", "domain", "definition", *ROLES}),
    "consumers": frozenset({
        "asset", "kind", "namespace", "domain", "definition", "reads", "through", "schedule", "lead_minutes",
        "lead_seconds", "consequence", "contact", "confirm", "tool", "mode", "delete_rule", *ROLES,
    }),
    "notes": frozenset({"asset", "text"}),
}  # fmt: skip


COLUMNS: Final = "consumers.columns"
"""As it stands among what is ignored."""

Told = Callable[[str], None]
Made = TypeVar("Made")


def parse(document: Mapping[str, Any], *, most: int = MOST, told: Told | None = None) -> Document:
    """The entries of `document`; BadInput, with one sentence that names the entry, for one that cannot be used, and for
    more than `most` of them. With `told` an entry that cannot be used is left out, and `told` hears that sentence."""
    if not isinstance(document, Mapping):
        raise BadInput("A declaration is a mapping with domains, assets, consumers and notes.")
    refused = told or _refuse
    ignored: dict[str, None] = {str(key): None for key in document if key not in SECTIONS}
    read = {section: list(_entries(document, section, ignored, refused)) for section in SECTIONS}
    count = sum(map(len, read.values()))
    if count > most:
        raise BadInput(f"A declaration has at most {most} entries, not {count}; send it in parts.")
    return Document(
        domains=_made(read["domains"], domain, refused),
        assets=_made(read["assets"], asset, refused),
        consumers=_made(read["consumers"], consumer, refused),
        notes=_made(read["notes"], note, refused),
        ignored=tuple(ignored),
    )


def domain(entry: Entry) -> DomainEntry:
    """One item of `domains`."""
    name = entry.needed("name", 200)
    owner, on_call = entry.text("owner"), entry.text("on_call")
    return DomainEntry(
        entry.slug("key", name), name, owner and owner.lower(), on_call and on_call.lower(), entry.flag("restricted")
    )


def asset(entry: Entry) -> AssetEntry:
    """One item of `assets`."""
    return AssetEntry(entry.name("asset"), entry.said("domain", "definition"), entry.roles())


def consumer(entry: Entry) -> ConsumerEntry:
    """One item of `consumers`."""
    said = entry.said("kind", "tool", "delete_rule", "consequence", "contact", "domain", "definition")
    said |= entry.mode() | entry.reads() | entry.schedule() | entry.lead() | entry.confirm()
    if said.get("kind") == "sync" and not said.get("tool"):
        raise entry.refuse("a sync names its tool")
    if said.get("tool") and not said.get("kind"):
        said["kind"] = "sync"
    columns = entry.texts("columns") or None  # an empty list is no claim that it reads none
    return ConsumerEntry(entry.name("asset"), entry.text("namespace") or "", said, entry.roles(), columns)


def note(entry: Entry) -> NoteEntry:
    """One item of `notes`."""
    return NoteEntry(entry.name("asset"), entry.needed("text", 10_000))


def _refuse(sentence: str) -> NoReturn:
    raise BadInput(sentence)


def _made(entries: Iterable[Entry], make: Callable[[Entry], Made], refused: Told) -> tuple[Made, ...]:
    found: list[Made] = []
    for entry in entries:
        try:
            found.append(make(entry))
        except BadInput as error:
            refused(str(error))
    return tuple(found)


def _entries(document: Mapping[str, Any], section: str, ignored: dict[str, None], refused: Told) -> Iterator[Entry]:
    items = document.get(section)
    if items is not None and (isinstance(items, str | Mapping) or not isinstance(items, Sequence)):
        refused(f"{section} is not a list.")
        return
    for number, raw in enumerate(items or [], 1):
        if not isinstance(raw, Mapping):
            refused(f"Entry {number} of {section} is not a mapping.")
            continue
        ignored.update({f"{section}.{key}": None for key in raw if key not in SECTIONS[section]})
        called = raw.get("asset") or raw.get("name")
        named = f" ({printable(called)})" if isinstance(called, str) else ""
        yield Entry(f"Entry {number} of {section}{named}", raw)
