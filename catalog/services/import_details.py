"""What an import brings beside the graph: who owns what by dbt's word, compiled code, and declarations under `meta`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from catalog.models import AssetRole
from catalog.services.column_lineage import Compiled
from catalog.services.meta import MetaEntry
from catalog.sources.claims import Claims
from catalog.sources.manifest_types import Node, Owner
from catalog.sources.naming import dialect_of
from foundation.bulk import among
from foundation.models import Person

SPELLBOOK: Final = "spellbook"
LABEL: Final = 200

Role: TypeAlias = tuple[int, int | None, str]
"""An asset, a person or None, a label or ""."""


class Owners:
    """The owners that a project's groups and exposures name, as roles of source `key`; both files and rows are read
    when it is made, `write` writes the difference."""

    def __init__(self, claimed: Claims, ids: Mapping[str, int], key: str) -> None:
        self.key = key
        groups = bool(claimed.manifest.group_owners)
        nodes = ((pk, claimed.nodes[name]) for name, pk in ids.items())
        named = {pk: owner for pk, node in nodes if (groups or node.raw.get("owner")) and (owner := node.owner)}
        people = _people({owner.email for owner in named.values() if owner.email})
        self.wanted = {(pk, *_who(owner, people)) for pk, owner in named.items()}
        self.before = _standing(key)

    def __bool__(self) -> bool:
        return self.wanted != self.before.keys()

    @property
    def changed(self) -> set[int]:
        """The assets whose owner is another now."""
        return {role[0] for role in self.wanted ^ self.before.keys()}

    def write(self) -> None:
        """Make the rows what the project says now; in the caller's transaction, which holds the graph: another import
        of the project may have written since this was made."""
        before = _standing(self.key)
        gone = [pk for role, pk in before.items() if role not in self.wanted]
        AssetRole.objects.filter(pk__in=among(gone)).delete()
        new = sorted(self.wanted - before.keys(), key=lambda role: (role[0], role[2]))
        rows = [
            AssetRole(asset_id=pk, person_id=who, label=label, role="owner", source=self.key) for pk, who, label in new
        ]
        AssetRole.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)


def _standing(key: str) -> dict[Role, int]:
    rows = AssetRole.objects.filter(source=key, role="owner").values_list("asset_id", "person_id", "label", "pk")
    return {(asset, person, label): pk for asset, person, label, pk in rows}


def compiled(claimed: Claims, ids: Mapping[str, int], key: str) -> list[Compiled]:
    """The code of models and snapshots, ephemeral ones too; without SQL where the file has none compiled."""
    dialect = dialect_of(claimed.manifest.adapter)
    return [
        Compiled(ids[name], key, (node.checksum or "")[:128], _sql(node), dialect)
        for name, node in claimed.nodes.items()
        if node.resource_type in ("model", "snapshot") and not node.external and name in ids
    ]


def declared(claimed: Claims, ids: Mapping[str, int]) -> list[MetaEntry]:
    """What stands under `meta.spellbook` of each node, unchecked."""
    return list(_declared(claimed, ids))


def _declared(claimed: Claims, ids: Mapping[str, int]) -> Iterator[MetaEntry]:
    for name, pk in ids.items():
        node = claimed.nodes[name]
        said = node.meta.get(SPELLBOOK) if node.meta else None
        if said is not None:
            yield MetaEntry(name, pk, node.resource_type == "exposure", said)


def _sql(node: Node) -> str:
    return (node.compiled_code or "") if node.language == "sql" else ""


def _people(emails: set[str]) -> dict[str, int]:
    if not emails:
        return {}
    rows: Sequence[tuple[str, int]] = list(Person.objects.filter(is_active=True).values_list("email", "pk"))
    wanted = {email.casefold() for email in emails}
    return {email.casefold(): pk for email, pk in rows if email.casefold() in wanted}


def _who(owner: Owner, people: Mapping[str, int]) -> tuple[int | None, str]:
    person = people.get(owner.email.casefold()) if owner.email else None
    if person is not None:
        return person, ""
    both = f"{owner.name} <{owner.email}>" if owner.name and owner.email else owner.name or owner.email
    return None, " ".join(both.split())[:LABEL] or "unnamed"
