"""The review of a pull request of a dbt project: its manifest against that of the code that it starts from, crossed
with what this installation knows.
"""

from __future__ import annotations

from dataclasses import replace

from catalog.code_hosts.github.client import GitHub
from catalog.models import PullRequest
from catalog.review import engine, types
from catalog.review.as_document import as_dict
from catalog.review.comment.annotations import line_annotations
from catalog.review.comment.markdown import render
from catalog.review.known.facts_document import FactsDocument
from catalog.review.known.knowledge import gather
from catalog.services.reviewing import answers, bases, files
from catalog.services.reviewing.bases import Base
from catalog.services.reviewing.files import Found
from catalog.services.reviewing.keeping import Made
from catalog.sources import catalog_file, manifest
from catalog.sources.manifest_types import Manifest
from foundation import artifacts
from foundation.clock import now
from foundation.errors import BadInput, NotFound
from spellbook import plan_links, review_facts, review_policy
from spellbook.review_links import page_of
from spellbook.review_measures import with_counts

FORK = "The manifest comes from a fork: it is what its author made of it."


def from_manifests(row: PullRequest, github: GitHub) -> Made | None:
    """The review of the head by its manifest; None while there is none.

    BadInput for a manifest that cannot be read, or that is of another project than the connection says. Without a base
    the review says so, and is never safe.
    """
    head = files.head_manifest(row, github)
    if head is None:
        return None
    read = manifest.read(head.load())
    wanted = github.settings.dbt_project
    if wanted and read.project != wanted:
        raise BadInput(f"The manifest is of the project {read.project or 'without a name'}, not of {wanted}.")
    merge_base = _merge_base(row, github)
    base = bases.find(row, read.project, merge_base)
    facts = review_facts.document(project=read.project)
    links = plan_links.links_of(row, github)
    found = plan_links.with_links(_reviewed(row, head, read, base, facts), links)
    subjects = review_policy.subjects(found, facts.rules, read.project)
    made = _made(row, head, base, found, facts.graph_version, subjects, github)
    return replace(made, document={**made.document, "plans": plan_links.as_documents(links)})


def _merge_base(row: PullRequest, github: GitHub) -> str:
    """Where the change starts from; "" when the two have nothing in common."""
    try:
        return github.merge_base(row.base_sha, row.head_sha)
    except NotFound:
        return ""


def _reviewed(row: PullRequest, head: Found, read: Manifest, base: Base | None, facts: FactsDocument) -> types.Review:
    if base is None:
        why = bases.missing(row, read.project)
        return types.Review(types.LOOK, (why,), (), notes=_notes(row), compared=why, at=now())
    before = manifest.read(artifacts.load(base.sha256))
    catalog = files.posted(row, "catalog")
    read_catalog = catalog_file.read(catalog.load()) if catalog is not None else None
    known = gather(before, read, facts=(facts,), catalog=read_catalog)
    compared = f"The manifest of {row.head_sha[:12]} ({head.said}) was compared with {base.sentence}."
    policy, moment = types.Policy(facts.rules), now()

    def reviewed(known: types.Knowledge) -> types.Review:
        return engine.review(before, read, known, policy, at=moment, compared=compared)

    # A stranger's manifest decides nothing of what is asked of a warehouse.
    found = reviewed(known) if row.from_fork else with_counts(known, reviewed)
    return replace(found, notes=(*found.notes, *_notes(row)))


def _notes(row: PullRequest) -> tuple[str, ...]:
    return (FORK,) if row.from_fork else ()


def _made(
    row: PullRequest,
    head: Found,
    base: Base | None,
    found: types.Review,
    version: int,
    subjects: list[dict[str, object]],
    github: GitHub,
) -> Made:
    remarks = line_annotations(found, folder=github.settings.project_subdir)
    return Made(
        head_manifest=head.sha256,
        head_origin=head.origin,
        base_manifest=base.sha256 if base else "",
        base_commit=base.commit if base else "",
        compared=found.compared,
        graph_version=version,
        verdict=found.verdict,
        needs_answer=review_policy.needs_answer(found),
        subjects=subjects,
        document=as_dict(found),
        markdown=render(found, budget=answers.LONGEST - answers.RESERVED, link=page_of(row)),
        annotations=[answers.annotation_as_dict(one) for one in remarks],
    )
