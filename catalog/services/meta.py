"""What the authors of a dbt project declare where they write their models and exposures: under `meta.spellbook`.

On a node: `domain`, `definition`, `notes` (a list of sentences), the roles, and `consumers` (readers of it, as in a
declaration file; what they read is the node unless they say more). On an exposure: what a consumer of a file says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from catalog.models import Asset
from catalog.names import full_name
from catalog.services import declarations, whole
from catalog.sources.declared import Document, parse
from catalog.sources.manifest_types import ManifestWarning
from foundation.audit import Actor
from foundation.errors import BadInput

KEY: Final = "meta:"
LONGEST: Final = 195
CHUNK: Final = 500


@dataclass(frozen=True)
class MetaEntry:
    """What stands under `meta.spellbook` of one node, by dbt's unique id; `reader`: it is an exposure."""

    node: str
    asset_id: int
    reader: bool
    said: Mapping[str, Any]


def declare_meta(entries: Sequence[MetaEntry], *, project: str, actor: Actor) -> list[ManifestWarning]:
    """Make what dbt's meta declares what this project's nodes say now; what they say no more is withdrawn.

    It weighs less than what people declare here or in a file. What cannot be used is left out, with a warning; no entry
    loses the others.
    """
    key = f"{KEY}{project[:LONGEST]}"
    if not entries and not declarations.says_anything(key):
        return []
    assets = _assets(entry.asset_id for entry in entries)
    warnings: list[ManifestWarning] = []

    def told(node: str, reason: str) -> None:
        warnings.append(ManifestWarning(node, f"meta.spellbook: {reason}"))

    parts = [
        whole.Part(entry.node, document, assets[entry.asset_id])
        for entry in entries
        if entry.asset_id in assets and (document := _document(entry, assets[entry.asset_id], told)) is not None
    ]
    report = whole.keep(whole.gather(parts, told), key=key, actor=actor)
    for one in report.unmatched:
        told("", f"{one['in']} reads {one['name']}, which nobody knows")
    return warnings


def _assets(ids: Iterable[int]) -> dict[int, Asset]:
    wanted, found = sorted(set(ids)), {}
    for start in range(0, len(wanted), CHUNK):
        found.update(Asset.objects.in_bulk(wanted[start : start + CHUNK]))
    return found


def _document(entry: MetaEntry, asset: Asset, told: Any) -> Document | None:
    """The entry in the form of a declaration file; None, and said why, when it is none."""
    try:
        if not isinstance(entry.said, Mapping):
            raise BadInput("it is not a mapping")
        document = parse(_sections(entry, asset))
    except BadInput as error:
        told(entry.node, str(error).removesuffix("."))
        return None
    for name in document.ignored:
        told(entry.node, f"{name.partition('.')[2] or name} means nothing here")
    return document


def _sections(entry: MetaEntry, asset: Asset) -> dict[str, Any]:
    said = {str(name): value for name, value in entry.said.items()}
    texts, consumers = said.pop("notes", None) or [], said.pop("consumers", None) or []
    name = full_name(asset)[:500]
    notes = [{"asset": name, "text": text} for text in ([texts] if isinstance(texts, str) else _list(texts, "notes"))]
    if entry.reader:
        return {"consumers": [{**said, "asset": name}], "notes": notes}
    reads = {"reads": full_name(asset)}
    listed = [{**reads, **one} if isinstance(one, Mapping) else one for one in _list(consumers, "consumers")]
    return {"assets": [{**said, "asset": name}], "consumers": listed, "notes": notes}


def _list(value: object, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise BadInput(f"{name} is not a list")
    return value
