"""What each source says of assets is kept beside what the others say; what counts is all of it together.

Where sources differ, people go before a file of the repository, the file before dbt's meta, meta before an agent: what
a lower one says fills what the higher ones leave unsaid, and comes back when they say it no more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from catalog import declared_readers
from catalog.declared_readers import KIND
from catalog.models import AssetRole, Declaration, Source
from catalog.services.fields import RoleRow, set_roles
from catalog.words import ROLES
from foundation import clock
from foundation.audit import Actor

DECLARED: Final = "declared"
SUGGESTED: Final = declared_readers.SUGGESTED
RANKS: Final = {SUGGESTED: 0, "meta": 1, "repository": 2, DECLARED: 3}
READER: Final = "reader"
CHUNK: Final = 200


@dataclass(frozen=True)
class Told:
    """What one source says of one asset: `said` as keys and plain JSON, `roles` of the roles `named`."""

    said: Mapping[str, Any]
    roles: Collection[RoleRow] = ()
    named: Sequence[str] = ()


@dataclass
class Merged:
    """What all sources together say of one asset, and who they are, the weightiest last."""

    said: dict[str, Any] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)

    @property
    def readers(self) -> list[str]:
        """The sources that call it a reader."""
        return [key for key in self.sources if key in self.said.get(READER, ())]


def rank(key: str) -> int:
    """How much the word of a source weighs."""
    return RANKS[key.partition(":")[0]]


def source(key: str) -> Source:
    """The row of a source that declares."""
    return Source.objects.get_or_create(key=key, defaults={"kind": KIND})[0]


def sources() -> list[str]:
    """Every source that ever declared anything, agents' suggestions included."""
    return list(Source.objects.filter(kind=KIND).order_by("pk").values_list("key", flat=True))


def merged(asset_ids: Collection[int], *, besides: str = "") -> dict[int, Merged]:
    """What is said of each of these assets, `besides` the word of one source; an asset of which nobody speaks is
    there, with nothing said. `said["reader"]` lists the sources that call it a reader.

    An agent's suggestion moves nothing into another domain: that would choose who answers it.
    """
    found = {pk: Merged() for pk in asset_ids}
    rows = Declaration.objects.filter(asset__in=list(asset_ids)).exclude(source__key=besides)
    listed = rows.values_list("asset_id", "source__key", "said")
    for pk, key, said in sorted(listed, key=lambda row: rank(row[1])):
        one = found[pk]
        one.sources.append(key)
        one.said |= {name: value for name, value in said.items() if name != READER and _counts(key, name)}
        if said.get(READER):
            one.said.setdefault(READER, []).append(key)
    return found


def keep(key: str, told: Mapping[int, Told], *, actor: Actor, whole: bool) -> tuple[set[int], set[int]]:
    """Keep what source `key` says of these assets; the ids of those of which it says, or names, something else now.

    `whole`: this is all that it says of them, so what it leaves out it says no more; otherwise it adds to what it said.
    Inside a transaction, at most a few hundred assets at once.
    """
    row, moment = source(key), clock.now()
    before = dict(Declaration.objects.filter(source=row, asset__in=list(told)).values_list("asset_id", "said"))
    now = {pk: {**({} if whole else before.get(pk, {})), **one.said} for pk, one in told.items()}
    changed = {pk for pk, said in now.items() if before.get(pk) != said}
    rows = [Declaration(source=row, asset_id=pk, said=now[pk], author=actor.principal, at=moment) for pk in changed]
    Declaration.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["source", "asset"], update_fields=["said", "author", "at"]
    )
    every = {pk: ROLES if whole else one.named for pk, one in told.items()}
    return changed, set_roles({pk: one.roles for pk, one in told.items()}, key, every)


def drop(key: str, asset_ids: Collection[int]) -> set[int]:
    """Forget all that source `key` says of these assets; the ids of those of which it said something."""
    rows = Declaration.objects.filter(source__key=key, asset__in=list(asset_ids))
    roles = AssetRole.objects.filter(source=key, asset__in=list(asset_ids))
    found = {*rows.values_list("asset_id", flat=True), *roles.values_list("asset_id", flat=True)}
    rows.delete()
    roles.delete()
    return found


def said_by(key: str) -> dict[int, dict[str, Any]]:
    """All that one source says, by asset."""
    return dict(Declaration.objects.filter(source__key=key).values_list("asset_id", "said"))


def says_anything(key: str) -> bool:
    """Whether a source says anything now."""
    return Declaration.objects.filter(source__key=key).exists()


def _counts(key: str, name: str) -> bool:
    return not (key == SUGGESTED and name == "domain")
