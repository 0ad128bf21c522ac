"""The review of a pull request of a repository without dbt: its changed files by the assets that its connection says
they make, and who reads those by the graph of this installation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from catalog.code_hosts.github.client import GitHub
from catalog.code_hosts.github.types import ChangedFiles
from catalog.models import Asset, Domain, PullRequest, ReviewRule
from catalog.names import find_each
from catalog.review import types
from catalog.review.as_document import as_dict
from catalog.review.by_files.file_map import FileRule
from catalog.review.by_files.review import FileChange, assets_of, review_files
from catalog.review.comment.annotations import line_annotations
from catalog.review.comment.markdown import render
from catalog.review.known.knowledge import gather
from catalog.services.reviewing import answers
from catalog.services.reviewing.keeping import Made
from catalog.sources.manifest_types import Manifest
from foundation import artifacts
from foundation.canonical import canonical_bytes
from foundation.clock import now
from spellbook import plan_links, review_facts, review_policy
from spellbook.review_links import page_of

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
        return f"restricted {asset.kind} {asset.pk}" if asset is not None and hidden else name


def from_files(row: PullRequest, github: GitHub) -> Made | None:
    """The review of the head by its changed files; None where the connection maps no files, or names a dbt project,
    whose manifest is waited for. Errors of the host as they are. No artifact is asked for: a token without the right to
    read them will do."""
    settings = github.settings
    if settings.dbt_project or not settings.files:
        return None
    listed = github.changed_files(row.number)
    changed = [FileChange(one.path, one.status, one.previous_path) for one in listed]
    named = _named(settings.files)
    rules = [replace(one, assets=tuple(map(named.shown, one.assets))) for one in settings.files]
    facts = review_facts.document()
    known = gather(_NO_MANIFEST, _NO_MANIFEST, facts=(facts,))
    policy = types.Policy(tuple(_rules(named)))
    compared = f"The files that the host lists as changed up to {row.head_sha[:12]} were looked up in the connection."
    found = review_files(changed, rules, known, policy, at=now(), compared=compared, complete=not listed.truncated)
    if row.from_fork:
        found = replace(found, notes=(*found.notes, _FORK))
    links = plan_links.links_of(row, github)
    subjects = _subjects(found, changed, settings.files, named)
    return _made(row, listed, plan_links.with_links(found, links), links, facts.graph_version, subjects)


def _named(file_map: Iterable[FileRule]) -> Named:
    names = sorted({name for rule in file_map for name in rule.assets})
    found = {name: asset for name, asset in find_each(names).items() if isinstance(asset, Asset)}
    return Named(found, set(Domain.objects.filter(restricted=True).values_list("pk", flat=True)))


def _rules(named: Named) -> Iterator[types.Rule]:
    """The rules of the assets that the files make; why one of a restricted domain is set stays here (D19)."""
    names = {asset.pk: name for name, asset in named.assets.items()}
    for one in ReviewRule.objects.filter(lifted_at__isnull=True, asset__in=list(names)).order_by("pk"):
        name = names[one.asset_id]
        yield types.Rule(named.shown(name), one.reason if named.shown(name) == name else "")


def _subjects(
    found: types.Review, changed: Sequence[FileChange], file_map: Sequence[FileRule], named: Named
) -> list[dict[str, Any]]:
    """What has to be answered for, as [{unique_id, asset}]: the assets of the files that are dangerous or that a rule
    names. One without an id stands for what the graph does not have; for that alone only an admin answers."""
    if not review_policy.needs_answer(found):
        return []
    asking = {
        one.path for one in found.changes if one.verdict == types.DANGEROUS or set(one.reasons) & {*found.required}
    }
    names = dict.fromkeys(name for one in changed if one.path in asking for name in assets_of(one, file_map))
    return [
        {"unique_id": named.shown(name), "asset": named.assets[name].pk if name in named.assets else None}
        for name in names
    ]


def _made(
    row: PullRequest,
    listed: ChangedFiles,
    found: types.Review,
    links: Sequence[plan_links.PlanLink],
    version: int,
    subjects: list[dict[str, Any]],
) -> Made:
    """The list of files takes the place of both manifests: the host has compared two commits to make it."""
    said = [[one.path, one.status, one.previous_path] for one in listed]
    sha256 = artifacts.store(canonical_bytes({"files": said, "head": row.head_sha, "truncated": listed.truncated}))
    return Made(
        head_manifest=sha256,
        head_origin=ORIGIN,
        base_manifest=sha256,
        base_commit="",
        compared=found.compared,
        graph_version=version,
        verdict=found.verdict,
        needs_answer=review_policy.needs_answer(found),
        subjects=subjects,
        document={**as_dict(found), "plans": plan_links.as_documents(links)},
        markdown=render(found, budget=answers.LONGEST - answers.RESERVED, link=page_of(row)),
        annotations=[answers.annotation_as_dict(one) for one in line_annotations(found)],
    )
