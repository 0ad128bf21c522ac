"""The form of a declaration: a mapping, as YAML or JSON gives it, becomes typed entries. No database.

    domains:   [{name, key?, owner?, on_call?, restricted?}]
    assets:    [{asset, domain?, owner?, operator?, business_owner?, on_call?, tool_admin?}]
    consumers: [{asset, kind?, namespace?, reads?, through?, domain?, the roles above,
                 schedule: {cron, zone?} or {triggered_by_api: true}, lead_minutes? or lead_seconds?, consequence?,
                 confirm: {metric, source}, tool?, mode?, delete_rule?}]
    notes:     [{asset, text}]

People are given by e-mail, one or a list. Keys that mean nothing on this floor are collected, not refused: an
upper floor may own them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.text import slugify

from catalog.models.consumers import MODES, ROLES
from foundation.errors import BadInput

LONGEST = {"consequence": 500, "delete_rule": 300, "tool": 100, "kind": 40, "cron": 100, "zone": 60, "metric": 200}


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
    """Who answers for an asset."""

    asset: str
    domain: str | None
    roles: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class SyncEntry:
    """What a sync does in its tool."""

    tool: str
    mode: str
    delete_rule: str


@dataclass(frozen=True)
class ConsumerEntry:
    """A reader: what it reads, when, and what follows from that. `reads` holds tables and other readers."""

    name: str
    kind: str
    namespace: str
    domain: str | None
    roles: Mapping[str, tuple[str, ...]]
    reads: tuple[str, ...]
    cron: str
    zone: str
    triggered_by_api: bool
    lead_seconds: int
    consequence: str
    confirm_metric: str
    confirm_source: str
    sync: SyncEntry | None


@dataclass(frozen=True)
class NoteEntry:
    """A sentence about an asset."""

    asset: str
    text: str


@dataclass(frozen=True)
class Declaration:
    """A whole document; `ignored` are its keys that were not read, such as `assets.watch`."""

    domains: tuple[DomainEntry, ...] = ()
    assets: tuple[AssetEntry, ...] = ()
    consumers: tuple[ConsumerEntry, ...] = ()
    notes: tuple[NoteEntry, ...] = ()
    ignored: tuple[str, ...] = field(default=())

    def emails(self) -> set[str]:
        """Every address that the document names."""
        found = {email for entry in self.domains for email in (entry.owner, entry.on_call) if email}
        roles = [entry.roles for entry in self.assets] + [entry.roles for entry in self.consumers]
        return found | {email for named in roles for emails in named.values() for email in emails}


def parse(document: Mapping[str, Any]) -> Declaration:
    """The entries of `document`; BadInput, with one sentence that names the entry, for one that cannot be used."""
    if not isinstance(document, Mapping):
        raise BadInput("A declaration is a mapping with domains, assets, consumers and notes.")
    ignored: dict[str, None] = {
        str(key): None for key in document if key not in ("domains", "assets", "consumers", "notes")
    }
    read = {
        section: list(_entries(document, section, ignored)) for section in ("domains", "assets", "consumers", "notes")
    }
    return Declaration(
        domains=tuple(_domain(entry) for entry in read["domains"]),
        assets=tuple(
            AssetEntry(entry.name("asset"), entry.optional("domain"), entry.roles()) for entry in read["assets"]
        ),
        consumers=tuple(_consumer(entry) for entry in read["consumers"]),
        notes=tuple(NoteEntry(entry.name("asset"), entry.text("text", 10_000, needed=True)) for entry in read["notes"]),
        ignored=tuple(ignored),
    )


KEYS = {
    "domains": {"key", "name", "owner", "on_call", "restricted"},
    "assets": {"asset", "domain", *ROLES},
    "consumers": {
        "asset", "kind", "namespace", "domain", "reads", "through", "schedule", "lead_minutes", "lead_seconds",
        "consequence", "confirm", "tool", "mode", "delete_rule", *ROLES,
    },
    "notes": {"asset", "text"},
}  # fmt: skip


@dataclass(frozen=True)
class _Entry:
    """One item of a section, with the words to name it in an error."""

    where: str
    raw: Mapping[str, Any]

    def refuse(self, why: str) -> BadInput:
        return BadInput(f"{self.where}: {why}.")

    def text(self, key: str, most: int, *, needed: bool = False) -> str:
        value = self.raw.get(key)
        if value is None and not needed:
            return ""
        if not isinstance(value, str) or not value.strip() or "\0" in value or len(value) > most:
            raise self.refuse(f"{key} is not a text of 1 to {most} characters")
        return value.strip()

    def name(self, key: str) -> str:
        return self.text(key, 500, needed=True)

    def optional(self, key: str) -> str | None:
        return self.text(key, 500) or None

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.raw.get(key)
        items = [] if value is None else [value] if isinstance(value, str) else value
        if not isinstance(items, Sequence) or not all(isinstance(item, str) and item.strip() for item in items):
            raise self.refuse(f"{key} is neither a text nor a list of texts")
        return tuple(dict.fromkeys(item.strip() for item in items))

    def flag(self, key: str) -> bool | None:
        value = self.raw.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.refuse(f"{key} is neither true nor false")
        return value

    def count(self, key: str) -> int | None:
        value = self.raw.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 31 * 86400:
            raise self.refuse(f"{key} is not a whole number of at most a month")
        return value

    def part(self, key: str) -> _Entry:
        value = self.raw.get(key)
        if value is not None and not isinstance(value, Mapping):
            raise self.refuse(f"{key} is not a mapping")
        return _Entry(f"{self.where}, {key}", value or {})

    def roles(self) -> dict[str, tuple[str, ...]]:
        return {role: tuple(email.lower() for email in self.texts(role)) for role in ROLES if role in self.raw}


def _entries(document: Mapping[str, Any], section: str, ignored: dict[str, None]) -> Iterator[_Entry]:
    items = document.get(section)
    if items is not None and (isinstance(items, str | Mapping) or not isinstance(items, Sequence)):
        raise BadInput(f"{section} is not a list.")
    for number, raw in enumerate(items or [], 1):
        if not isinstance(raw, Mapping):
            raise BadInput(f"Entry {number} of {section} is not a mapping.")
        ignored.update({f"{section}.{key}": None for key in raw if key not in KEYS[section]})
        called = raw.get("asset") or raw.get("name")
        yield _Entry(f"Entry {number} of {section}" + (f" ({called})" if isinstance(called, str) else ""), raw)


def _domain(entry: _Entry) -> DomainEntry:
    name = entry.text("name", 200, needed=True)
    key = entry.text("key", 100) or slugify(name)
    if key != slugify(key) or not key or len(key) > 100:
        raise entry.refuse("its key is not made of letters, digits and hyphens")
    owner, on_call = entry.text("owner", 254) or None, entry.text("on_call", 254) or None
    return DomainEntry(key, name, owner and owner.lower(), on_call and on_call.lower(), entry.flag("restricted"))


def _consumer(entry: _Entry) -> ConsumerEntry:
    schedule, confirm = entry.part("schedule"), entry.part("confirm")
    sync = _sync(entry)
    kind = entry.text("kind", LONGEST["kind"]) or ("sync" if sync else "dashboard")
    if kind == "sync" and sync is None:
        raise entry.refuse("a sync names its tool")
    return ConsumerEntry(
        name=entry.name("asset"),
        kind=kind,
        namespace=entry.text("namespace", 300),
        domain=entry.optional("domain"),
        roles=entry.roles(),
        reads=tuple(dict.fromkeys((*entry.texts("reads"), *entry.texts("through")))),
        cron=schedule.text("cron", LONGEST["cron"]),
        zone=schedule.text("zone", LONGEST["zone"]) or "UTC",
        triggered_by_api=bool(schedule.flag("triggered_by_api")),
        lead_seconds=_lead(entry),
        consequence=entry.text("consequence", LONGEST["consequence"]),
        confirm_metric=confirm.text("metric", LONGEST["metric"], needed=bool(confirm.raw)),
        confirm_source=confirm.text("source", 800, needed=bool(confirm.raw)),
        sync=sync,
    )


def _sync(entry: _Entry) -> SyncEntry | None:
    tool = entry.text("tool", LONGEST["tool"])
    if not tool:
        return None
    mode = entry.text("mode", 40) or "unknown"
    if mode not in MODES:
        raise entry.refuse(f"mode is one of {', '.join(MODES)}, not {mode}")
    return SyncEntry(tool, mode, entry.text("delete_rule", LONGEST["delete_rule"]))


def _lead(entry: _Entry) -> int:
    minutes, seconds = entry.count("lead_minutes"), entry.count("lead_seconds")
    if minutes is not None and seconds is not None:
        raise entry.refuse("lead_minutes and lead_seconds say the same thing twice")
    return minutes * 60 if minutes is not None else 60 if seconds is None else seconds
