"""Keeping what the authors of a dbt project declare under `meta.spellbook` (its form: `catalog.sources.meta`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from catalog.models import Asset
from catalog.names import full_name
from catalog.selectors import assets_by_id
from catalog.services import declarations, whole
from catalog.services.access import is_agent
from catalog.services.declare import declare
from catalog.sources.declared import Document, parse
from catalog.sources.manifest_types import ManifestWarning
from catalog.sources.meta import SECTIONS, Sections, sections
from catalog.words import ROLES
from foundation.audit import Actor
from foundation.errors import BadInput, Busy, SpellbookError, Unavailable

KEY: Final = "meta:"
LONGEST: Final = 195
CHUNK: Final = 500
NOT_SUGGESTED: Final = frozenset({"domain", *ROLES})

Told: TypeAlias = Callable[[str, str], None]
"""Hears of which node, and why, something is left out."""


@dataclass(frozen=True)
class MetaEntry:
    """What stands under `meta.spellbook` of one node, by dbt's unique id; `reader`: it is an exposure."""

    node: str
    asset_id: int
    reader: bool
    said: Mapping[str, Any]


def declare_meta(entries: Sequence[MetaEntry], *, project: str, actor: Actor) -> list[ManifestWarning]:
    """Make what dbt's meta declares what this project's nodes say now; what they say no more is withdrawn.

    It weighs less than what people declare here or in a file. Brought by an agent it is that agent's suggestion: it
    names no domains and people, and what it says no more stays. What cannot be used is left out, with a warning; no
    entry loses the others.
    """
    key = f"{KEY}{project[:LONGEST]}"
    if not entries and (is_agent(actor) or not declarations.says_anything(key)):
        return []
    assets = assets_by_id({entry.asset_id for entry in entries})
    warnings: list[ManifestWarning] = []

    def told(node: str, reason: str) -> None:
        warnings.append(ManifestWarning(node, f"meta.spellbook: {reason}"))

    known = [(entry, assets[entry.asset_id]) for entry in entries if entry.asset_id in assets]
    if is_agent(actor):
        said = [(entry.node, _suggested(entry, asset, told)) for entry, asset in known if _document(entry, asset, told)]
        _suggest([(node, sections) for node, sections in said if any(sections.values())], told, actor)
        return warnings
    parts = [
        whole.Part(entry.node, document, asset)
        for entry, asset in known
        if (document := _document(entry, asset, told)) is not None
    ]
    report = whole.keep(whole.gather(parts, told), key=key, actor=actor)
    for one in report.unmatched:
        told("", f"{one['in']} reads {one['name']}, which nobody knows")
    return warnings


def _suggest(listed: Sequence[tuple[str, Sections]], told: Told, actor: Actor) -> None:
    """Declare all of it at once; where that is refused the halves, until what is refused stands alone."""
    if not listed:
        return
    document = {name: [one for _, sections in listed for one in sections[name]] for name in SECTIONS}
    try:
        if len(listed) > CHUNK:
            raise BadInput("These are too many for one declaration.")
        declare(document, actor=actor)
    except (Busy, Unavailable):
        raise
    except SpellbookError as error:
        if len(listed) == 1:
            told(listed[0][0], str(error).removesuffix("."))
            return
        _suggest(listed[: len(listed) // 2], told, actor)
        _suggest(listed[len(listed) // 2 :], told, actor)


def _suggested(entry: MetaEntry, asset: Asset, told: Told) -> Sections:
    """What an agent may suggest of an entry that can be read; of the rest, said that it is left out."""
    found, left = _sections(entry, asset), set()
    for name in ("assets", "consumers"):
        for one in found.get(name, ()):
            left |= NOT_SUGGESTED & one.keys()
    if left:
        told(entry.node, f"{', '.join(sorted(left))} left out, since an agent brought it and names no domain or people")
    plain = {
        name: [{key: value for key, value in one.items() if key not in NOT_SUGGESTED} for one in found.get(name, ())]
        for name in SECTIONS
    }
    return plain | {"assets": [one for one in plain["assets"] if one.keys() > {"asset"}]}


def _document(entry: MetaEntry, asset: Asset, told: Told) -> Document | None:
    """The entry in the form of a declaration file; None, and said why, when it is none."""
    try:
        document = parse(_sections(entry, asset))
    except BadInput as error:
        told(entry.node, str(error).removesuffix("."))
        return None
    for name in document.ignored:
        told(entry.node, f"{name.partition('.')[2] or name} means nothing here")
    return document


def _sections(entry: MetaEntry, asset: Asset) -> Sections:
    return sections(entry.said, full_name(asset), reader=entry.reader)
