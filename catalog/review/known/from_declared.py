"""What declarations say of readers, tables and domains: those of a YAML file, and those that stand in dbt's meta."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from catalog.lints.types import bare
from catalog.review.known.said import Said
from catalog.review.types import KnownAsset, KnownDomain, People
from catalog.sources.declared import COLUMNS, ConsumerEntry, Document, Told, parse
from catalog.sources.declared_entry import Roles
from foundation.errors import BadInput

MOST: Final = 20_000
FIELDS: Final = ("kind", "tool", "mode", "delete_rule", "schedule", "lead_seconds", "consequence", "domain")
READ_ELSEWHERE: Final = frozenset({
    COLUMNS, "people", "assets.watch", "domains.approver", "domains.fallback", "domains.minimum_minutes",
})  # fmt: skip
"""Keys that a declaration may hold though its reader on this floor passes over them."""

Names = Mapping[str, str]
"""What people are called, by their addresses."""


def document_of(raw: object, told: Told) -> Document:
    """The declaration that `raw` holds; `told` hears of each part that cannot be used and of keys without a meaning."""
    try:
        document = parse(raw, most=MOST, told=told)  # type: ignore[arg-type]  # anything else is refused there
    except BadInput as error:
        told(str(error))
        return Document()
    for name in document.ignored:
        if name not in READ_ELSEWHERE:
            told(f"{name} means nothing here.")
    return document


def names_of(raw: Mapping[str, Any]) -> dict[str, str]:
    """What people are called, by the addresses under which `people` of a declaration lists them."""
    found = {str(one.get("email") or "").strip().lower(): one.get("name") for one in _mappings(raw, "people")}
    return {email: name for email, name in found.items() if email and isinstance(name, str) and name.strip()}


def readers_of(document: Document, source: str, called: Names) -> Iterator[Said]:
    """The readers of a declaration."""
    for one in document.consumers:
        yield Said(
            names=(f"{one.namespace}/{one.name}",) if one.namespace else (one.name,),
            source=source,
            fields=_fields(one),
            reads=tuple(one.said.get("reads", ())),
            columns=None if one.columns is None else frozenset(map(bare, one.columns)),
            people=people_of(one.roles, called),
        )


def assets_of(document: Document, called: Names) -> Iterator[KnownAsset]:
    """The tables of a declaration, by the names that it gives them."""
    for one in document.assets:
        yield KnownAsset(one.asset, kind="", domain=one.said.get("domain", ""), people=people_of(one.roles, called))


def domains_of(document: Document, raw: Mapping[str, Any], called: Names) -> Iterator[KnownDomain]:
    """The domains of a declaration; who approves there stands beside what this floor reads of it."""
    deciding = {str(one.get("name") or "").strip(): one for one in _mappings(raw, "domains")}
    for one in document.domains:
        beside = deciding.get(one.name, {})
        approvers = [beside.get(part) for part in ("approver", "fallback")]
        emails = dict.fromkeys(email.strip().lower() for email in approvers if isinstance(email, str) and email.strip())
        owner = one.owner or ""
        yield KnownDomain(
            one.key, one.name, called.get(owner, owner), tuple(called.get(email, email) for email in emails)
        )


def people_of(roles: Roles, called: Names) -> People:
    """The people of each role by name; by address where nobody says the name, by label for a schedule or a team."""
    return {
        role: tuple(dict.fromkeys(called.get(who.email, who.email) or who.label for who in people))
        for role, people in roles.items()
        if people
    }


def _fields(one: ConsumerEntry) -> dict[str, Any]:
    return {name: one.said[name] for name in FIELDS if name in one.said}


def _mappings(raw: object, section: str) -> Iterator[Mapping[str, Any]]:
    items = raw.get(section) if isinstance(raw, Mapping) else None
    if isinstance(items, Sequence) and not isinstance(items, str):
        yield from (one for one in items if isinstance(one, Mapping))
