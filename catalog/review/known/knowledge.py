"""All that is known of readers, tables and domains beside the code, gathered from where it is written.

Four kinds of sources tell of a reader: dbt's exposures, `meta.spellbook` in a dbt project, declaration files, and the
facts of an installation. They are matched by the reader's name, without case; an exposure is also known by its label
and its unique id. A field that several of them say counts as the later one in that order says it, and within one kind
as the later file says it; people are taken role by role, and what a reader reads is all that any of them names. For a
table the same order holds. What only the base manifest tells counts too: a change that removes a declaration removes
neither the reader nor who answers for a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from catalog.review.estate.names import Names, names_of, plain
from catalog.review.known import from_declared, from_manifest
from catalog.review.known.column_facts import together
from catalog.review.known.facts_document import FactsDocument
from catalog.review.known.from_facts import readers_of
from catalog.review.known.from_manifest import FromManifest, said_by
from catalog.review.known.said import Said, united
from catalog.review.moments import written
from catalog.review.types import Knowledge, KnownAsset, KnownDomain
from catalog.sources.catalog_file import CatalogFile
from catalog.sources.manifest_types import Manifest

REMOVED: Final = ", which this change removes"


def gather(
    base: Manifest,
    head: Manifest,
    *,
    declared: Sequence[tuple[str, Mapping[str, Any]]] = (),
    facts: Sequence[FactsDocument] = (),
    catalog: CatalogFile | None = None,
) -> Knowledge:
    """What is known beside the code of `base` and `head`.

    `declared` are documents of declarations with what they are called, `catalog` is dbt's catalog.json, for the types
    of columns. Nothing is refused: what cannot be used is a sentence among `problems`, and the rest counts.
    """
    called = {**from_manifest.names_in(base), **from_manifest.names_in(head)}
    for _, raw in declared:
        called |= from_declared.names_of(raw)
    told = _Told(_Meanings(base, head))
    before, now = said_by(base, called), said_by(head, called)
    told.assets_of(before)
    told.manifest(now)
    for name, raw in declared:
        told.document(name, raw, called)
    for one in facts:
        told.facts(one)
    told.removed(before)
    assets = tuple(told.assets.values())
    return Knowledge(
        readers=tuple(united(parts, told.meanings.of) for parts in told.groups),
        assets=assets,
        domains=tuple(told.domains.values()),
        facts=together(facts, assets, catalog, head),
        sources=tuple(told.sources),
        problems=tuple(told.problems),
    )


class _Meanings:
    """Which node a name means; a name that means none, or several, means itself."""

    def __init__(self, base: Manifest, head: Manifest) -> None:
        nodes = {**base.nodes, **head.nodes}
        self.ids = [key for key, node in nodes.items() if node.resource_type != "exposure"]
        self._names = Names()
        for place, key in enumerate(self.ids):
            self._names.add_id(key, place)
            for name in names_of(nodes[key]):
                self._names.add(name, place)

    def of(self, name: str) -> str:
        places, certain = self._names.find(name)
        return self.ids[places[0]] if certain and len(places) == 1 else plain(name)

    def known(self, unique_id: str) -> bool:
        return bool(unique_id) and self._names.find(unique_id)[1]


@dataclass
class _Told:
    """What was told so far, each reader and table once; `groups` are the parts that speak of one reader."""

    meanings: _Meanings
    groups: list[list[Said]] = field(default_factory=list)
    assets: dict[str, KnownAsset] = field(default_factory=dict)
    domains: dict[str, KnownDomain] = field(default_factory=dict)
    sources: dict[str, None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    _by_name: dict[str, set[int]] = field(default_factory=dict)

    def manifest(self, found: FromManifest) -> None:
        for part in found.exposures:
            self._open(part)
        self._take_readers(found.readers)
        self._take_assets(found.assets)
        self.problems += found.problems

    def assets_of(self, before: FromManifest) -> None:
        """What the base tells of tables, the weakest of all: who answered for one that goes is asked about that."""
        self._take_assets(before.assets)

    def document(self, name: str, raw: Mapping[str, Any], called: from_declared.Names) -> None:
        document = from_declared.document_of(raw, lambda sentence: self.problems.append(f"{name}: {sentence}"))
        self._take_readers(from_declared.readers_of(document, name, called))
        self._take_assets(from_declared.assets_of(document, called))
        self._take_domains(from_declared.domains_of(document, raw, called))

    def facts(self, document: FactsDocument) -> None:
        source = _facts_source(document)
        ids = {one.name: one.unique_id for one in document.assets if self.meanings.known(one.unique_id)}
        self.sources[source] = None  # an installation that tells of no reader tells that as well
        self._take_readers(readers_of(document, source, ids, self.problems.append))
        self._take_assets(document.assets)
        self._take_domains(document.domains)

    def removed(self, found: FromManifest) -> None:
        """What the base alone tells: readers that nothing else names."""
        known = set(self._by_name)
        for parts, take in ((found.exposures, self._open), (found.readers, self._take)):
            for part in parts:
                if known.isdisjoint(map(str.casefold, part.names)):
                    take(replace(part, source=part.source + REMOVED))

    def _take_readers(self, parts: Iterable[Said]) -> None:
        for part in parts:
            self._take(part)

    def _take(self, part: Said) -> None:
        """Add a part to the reader that it speaks of, which may be a new one."""
        found = self._by_name.get(part.names[0].casefold(), set())
        if len(found) == 1:
            self.groups[next(iter(found))].append(part)
            self.sources[part.source] = None
            return
        if found:
            self.problems.append(f"{part.source}: several readers are called {part.names[0]}; it counts as one more.")
        self._open(part)

    def _open(self, part: Said) -> None:
        """Begin a reader of which nothing else spoke."""
        self.sources[part.source] = None
        self.groups.append([part])
        for name in part.names:
            self._by_name.setdefault(name.casefold(), set()).add(len(self.groups) - 1)

    def _take_domains(self, domains: Iterable[KnownDomain]) -> None:
        for one in domains:
            known = self.domains.get(one.key, one)
            owner, approvers = one.owner or known.owner, one.approvers or known.approvers
            self.domains[one.key] = replace(one, owner=owner, approvers=approvers)

    def _take_assets(self, assets: Iterable[KnownAsset]) -> None:
        for one in assets:
            key = one.unique_id if self.meanings.known(one.unique_id) else self.meanings.of(one.name)
            known = self.assets.get(key)
            self.assets[key] = _merged(known, one) if known else replace(one, kind=one.kind or "table")


def _merged(known: KnownAsset, said: KnownAsset) -> KnownAsset:
    return KnownAsset(
        name=said.name,
        kind=said.kind or known.kind,
        unique_id=known.unique_id or said.unique_id,
        domain=said.domain or known.domain,
        people={**known.people, **{role: names for role, names in said.people.items() if names}},
        reads=tuple(dict.fromkeys((*known.reads, *said.reads))),
    )


def _facts_source(document: FactsDocument) -> str:
    where = f"facts of {document.installation}" if document.installation else "facts"
    return f"{where}, taken {written(document.taken_at)}"
