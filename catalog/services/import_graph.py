"""What one import of a dbt project has to change in the graph: its nodes with their assets, compared with the claims.

A node whose mark is that of its standing claim is as it was: it is neither read further nor compared.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Any, NamedTuple

import orjson
from django.db.models import TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from catalog.graph.versions import head_version
from catalog.models import NodeClaim
from catalog.reader_identity import known_as
from catalog.services import assets, claims
from catalog.services.staging import Edge
from catalog.sources.claims import LOCAL_ID, MARK, Claims, NodeDraft, fits
from catalog.sources.manifest_types import ManifestWarning
from foundation.bulk import among


class Standing(NamedTuple):
    """What stands of a node: its claim, its asset, the asset's namespace, the mark that it was claimed under."""

    claim: int
    asset: int
    namespace: str
    mark: str


class Importing:
    """One import of the claims `claimed` as source `key`."""

    def __init__(self, claimed: Claims, key: str) -> None:
        self.claimed, self.key = claimed, key
        self.ids: dict[str, int] = {}
        self.before: dict[str, Standing] = {}
        self.drafts: dict[str, NodeDraft] = {}
        self.left_out: set[str] = set()
        self.description = assets.Description()
        self._marks: dict[str, str] = {}

    def compare(self) -> claims.Difference:
        """What is to be written now, of assets in `description`; makes the assets that are not there yet."""
        base = head_version()
        self.before = _standing(self.key)
        same = {name: self.before[name].asset for name in self.claimed.nodes if self._is_as_it_was(name)}
        self.drafts = {name: self.claimed.draft(name) for name in self.claimed.nodes if name not in same}
        self.left_out = {name for name, draft in self.drafts.items() if not fits(draft)}
        for name in self.left_out:
            del self.drafts[name]
        self.ids = same | self._assets_of_drafts()
        edges_before = claims.standing_edges(self.key)
        opened = self._opened()
        self.description = self._describe(opened)
        return claims.differing(base, self.ids, self.before, opened, set(self._edges()), edges_before)

    def seen(self) -> set[int]:
        """The assets that the graph shows already, by this source's word or another's."""
        return {*self.description.elsewhere, *(was.asset for was in self.before.values())}

    def warnings(self) -> Iterator[ManifestWarning]:
        """What the tables cannot take, and nodes that write one table: they are one asset, which is rarely meant."""
        for name in sorted(self.left_out):
            yield ManifestWarning(name[:LOCAL_ID], "its name is too long and it was left out")
        first: dict[int, str] = {}
        for name, pk in self.ids.items():
            if self.claimed.nodes[name].resource_type in ("model", "seed", "snapshot"):
                other = first.setdefault(pk, name)
                if other != name and not self.claimed.nodes[name].external:
                    yield ManifestWarning(name, f"writes the same table as {other}; both are one asset")

    def edge_count(self) -> int:
        """How many edges the file claims."""
        return sum(1 for _ in self._pairs())

    def _is_as_it_was(self, name: str) -> bool:
        was = self.before.get(name)
        return was is not None and was.mark == self._mark(name) != "" and was.namespace == self.claimed.namespace

    def _mark(self, name: str) -> str:
        if name not in self._marks:
            self._marks[name] = self.claimed.mark(name)
        return self._marks[name]

    def _assets_of_drafts(self) -> dict[str, int]:
        """An exposure may be a reader that people declared, and a dependency outside the file another project's."""
        outside = [name for name, draft in self.drafts.items() if draft.external]
        found = assets.by_local_id(outside, besides=self.key)
        found |= known_as({name: draft.names for name, draft in self.drafts.items() if draft.reader})
        rows = assets.ensure(draft for name, draft in self.drafts.items() if name not in found)
        return {name: found.get(name) or rows[draft.identity].pk for name, draft in self.drafts.items()}

    def _opened(self) -> dict[str, tuple[int, dict[str, Any]]]:
        said = _attributes([self.before[name].claim for name in self.drafts if name in self.before])
        opened = {}
        for name, draft in self.drafts.items():
            was = self.before.get(name)
            if was is None or was.asset != self.ids[name] or said[was.claim] != draft.attributes:
                mark = self._mark(name)
                opened[name] = (self.ids[name], {**draft.attributes, MARK: mark} if mark else dict(draft.attributes))
        return opened

    def _describe(self, opened: Container[str]) -> assets.Description:
        """What is to be written of the assets whose node is new or changed, or whose columns were measured."""
        names = [name for name in self.ids if name in opened or name in self.claimed.tables]
        pairs = assets.best((self.ids[name], self.claimed.draft(name)) for name in names)
        rows = assets.known(list(pairs))
        return assets.description([(rows[pk], self._whole(draft)) for pk, draft in pairs.items()], self.key)

    def _pairs(self) -> Iterator[tuple[str, str]]:
        if not self.left_out:
            return iter(self.claimed.edges)
        return (pair for pair in self.claimed.edges if self.left_out.isdisjoint(pair))

    def _edges(self) -> Iterator[Edge]:
        ids = self.ids
        for name, below in self._pairs():
            if ids[name] != ids[below]:
                yield ids[name], ids[below], "feeds"

    def _whole(self, draft: NodeDraft) -> NodeDraft:
        return draft.with_columns(self.claimed.columns(draft.local_id))


def _standing(key: str) -> dict[str, Standing]:
    rows = NodeClaim.objects.filter(source__key=key, removed_in__isnull=True)
    mark = KeyTextTransform(MARK, "attributes")
    found = rows.values_list("local_id", "pk", "asset_id", "asset__namespace", mark)
    return {name: Standing(pk, asset, namespace, mark or "") for name, pk, asset, namespace, mark in found}


def _attributes(pks: Sequence[int]) -> dict[int, dict[str, Any]]:
    """The attributes of these claims, without their marks."""
    rows = NodeClaim.objects.filter(pk__in=among(pks)).values_list("pk", Cast("attributes", TextField()))
    found = {pk: orjson.loads(text) for pk, text in rows}
    for attributes in found.values():
        attributes.pop(MARK, None)
    return found
