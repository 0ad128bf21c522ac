"""What a manifest says of readers and tables: dbt's exposures and owners, and what its authors wrote into meta."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from catalog.review.known.from_declared import Names, assets_of, document_of, readers_of
from catalog.review.known.said import Said
from catalog.review.types import KnownAsset
from catalog.sources.artifact import text
from catalog.sources.declared import Document
from catalog.sources.manifest_types import Manifest, Node, Owner
from catalog.sources.meta import sections
from foundation.errors import BadInput

KEY: Final = "spellbook"
EXPOSURES: Final = "dbt exposures"
META: Final = "meta.spellbook of dbt"


@dataclass
class FromManifest:
    """What one manifest says. `exposures` and `readers` (of meta) are apart, since they weigh differently."""

    exposures: list[Said] = field(default_factory=list)
    readers: list[Said] = field(default_factory=list)
    assets: list[KnownAsset] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def said_by(manifest: Manifest, called: Names) -> FromManifest:
    """All that `manifest` says of readers and of who answers for tables; what cannot be used is told in `problems`."""
    found = FromManifest()
    for node in manifest.nodes.values():
        reader = node.resource_type == "exposure"
        if reader:
            found.exposures.append(_exposure(node))
        elif node.owner is not None:
            name = owner_name(node.owner)
            found.assets.append(KnownAsset(node.name, node.kind, node.unique_id, people={"owner": (name,)}))
        document = _meta(node, found.problems, reader=reader)
        found.readers += readers_of(document, META, called)
        found.assets += (
            KnownAsset(node.name, node.kind, node.unique_id, one.domain, one.people)
            for one in assets_of(document, called)
        )
    return found


def names_in(manifest: Manifest) -> dict[str, str]:
    """What people are called, by their addresses, where an exposure or a group names both."""
    owners = [node.owner for node in manifest.nodes.values() if node.owner is not None]
    return {one.email.strip().lower(): one.name for one in owners if one.email and one.name}


def owner_name(owner: Owner) -> str:
    """How dbt's owner is called: by name, else by address."""
    return owner.name or owner.email


def _exposure(node: Node) -> Said:
    label = text(node.raw.get("label")).strip()
    return Said(
        names=tuple(dict.fromkeys(filter(None, (label, node.name, node.unique_id)))),
        source=EXPOSURES,
        fields={"kind": node.kind},
        reads=node.depends_on,
        people={"owner": (owner_name(node.owner),)} if node.owner is not None else {},
    )


def _meta(node: Node, problems: list[str], *, reader: bool) -> Document:
    said = node.meta.get(KEY)
    if said is None:
        return Document()
    where = f"meta.spellbook of {node.unique_id}"
    try:
        raw = sections(said, node.unique_id, reader=reader)
    except BadInput as error:
        problems.append(f"{where}: {error}.")
        return Document()
    return document_of(raw, lambda sentence: problems.append(f"{where}: {sentence}"))
