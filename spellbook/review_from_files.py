"""The review of a pull request of a repository without dbt: its changed files by the assets that its connection says
they make, and who reads those by the graph of this installation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from catalog.code_hosts.github.client import GitHub
from catalog.code_hosts.github.types import ChangedFiles
from catalog.models import Asset, Domain, PullRequest, ReviewRule
from catalog.names import find_each
from catalog.review import types
from catalog.review.by_files.review import FileChange, assets_of, review_files
from catalog.review.known.knowledge import gather
from catalog.services.reviewing.keeping import Made
from catalog.sources.file_map import FileRule
from catalog.sources.manifest_types import Manifest
from foundation import artifacts
from foundation.canonical import canonical_bytes
from spellbook import plan_links, review_acknowledging, review_facts, review_making
from spellbook.review_making import Compared

ORIGIN: Final = "files"
_FORK: Final = "The change comes from a fork."
_NO_MANIFEST: Final = Manifest(None, "", "", "", {})


@dataclass(frozen=True, slots=True)
class Named:
    """What the names in a file map mean: the asset where the graph has it, and what a review calls it, which says
    nothing of an asset in a restricted domain."""

    assets: Mapping[str, Asset]
    veiled: Collection[int]

    def shown(self, name: str) -> str:
        """What a comment calls the asset; the same that `review_facts` calls it."""
        asset = self.assets.get(name)
        hidden = asset is not None and asset.domain_id in self.veiled
        return review_facts.opaque(asset.kind, asset.pk) if asset is not None and hidden else name


def from_files(row: PullRequest, github: GitHub, at: datetime) -> Made | None:
    """The review of the head by its changed files as of the moment `at`; None where the connection maps no files, or
    names a dbt project, whose manifest is waited for. Errors of the host as they are. No artifact is asked for: a token
    without the right to read them will do."""
    settings = github.settings
    if settings.dbt_project or not settings.files:
        return None
    listed = github.changed_files(row.number)
    changed = [FileChange(one.path, one.status, one.previous_path) for one in listed]
    named = _named(settings.files)
    rules = [replace(one, assets=tuple(map(named.shown, one.assets))) for one in settings.files]
    facts = review_facts.document()
    known = gather(_NO_MANIFEST, _NO_MANIFEST, facts=(facts,))
    policy = types.Policy(tuple(_rules(named, facts.rules, facts.readers)))
    compared = f"The files that the host lists as changed up to {row.head_sha[:12]} were looked up in the connection."
    found = review_files(changed, rules, known, policy, at=at, compared=compared, complete=not listed.truncated)
    if row.from_fork:
        found = replace(found, notes=(*found.notes, _FORK))
    # The list of files takes the place of both manifests: the host has compared two commits to make it.
    sha256 = _stored(row, listed)
    return review_making.made(
        row,
        found,
        plan_links.links_of(row, github),
        Compared(sha256, ORIGIN, sha256),
        subjects=_subjects(found, changed, settings.files, named, policy.rules),
        graph_version=facts.graph_version,
    )


def _stored(row: PullRequest, listed: ChangedFiles) -> str:
    """The digest of the list of files, which is kept as a manifest would be."""
    said = [[one.path, one.status, one.previous_path] for one in listed]
    return artifacts.store(canonical_bytes({"files": said, "head": row.head_sha, "truncated": listed.truncated}))


def _named(file_map: Iterable[FileRule]) -> Named:
    names = sorted({name for rule in file_map for name in rule.assets})
    found = {name: asset for name, asset in find_each(names).items() if isinstance(asset, Asset)}
    return Named(found, set(Domain.objects.filter(restricted=True).values_list("pk", flat=True)))


def _rules(named: Named, known: Iterable[types.Rule], readers: Iterable[types.KnownReader]) -> Iterator[types.Rule]:
    """The rules of the assets that the files make; why one of a restricted domain is set stays here (D19). Then those
    of readers: no other asset can be touched."""
    names = {asset.pk: name for name, asset in named.assets.items()}
    for one in ReviewRule.objects.filter(lifted_at__isnull=True, asset__in=list(names)).order_by("pk"):
        name = names[one.asset_id]
        yield types.Rule(named.shown(name), one.reason if named.shown(name) == name else "")
    reading = {one.name for one in readers} - {named.shown(name) for name in named.assets}
    yield from (one for one in known if one.asset in reading)


def _subjects(
    found: types.Review,
    changed: Sequence[FileChange],
    file_map: Sequence[FileRule],
    named: Named,
    rules: Sequence[types.Rule],
) -> list[dict[str, Any]]:
    """What has to be answered for, as [{unique_id, asset}]: the assets of the files that are dangerous or that a rule
    names. One without an id stands for what the graph does not have; for that alone only an admin answers."""
    if not review_acknowledging.needs_answer(found):
        return []
    asking = {
        one.path for one in found.changes if one.verdict == types.DANGEROUS or set(one.reasons) & {*found.required}
    }
    names = dict.fromkeys(name for one in changed if one.path in asking for name in assets_of(one, file_map))
    made = [
        {"unique_id": named.shown(name), "asset": named.assets[name].pk if name in named.assets else None}
        for name in names
    ]
    listed = {one["asset"] for one in made}
    return [*made, *(one for one in review_acknowledging.ruled_readers(found, rules) if one["asset"] not in listed)]
