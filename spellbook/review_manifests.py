"""The review of a pull request of a dbt project: its manifest against that of the code that it starts from, crossed
with what this installation knows.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from catalog.code_hosts.github.client import GitHub
from catalog.models import PullRequest
from catalog.review import engine, types
from catalog.review.known.facts_document import FactsDocument
from catalog.review.known.knowledge import gather
from catalog.services.reviewing import bases, files
from catalog.services.reviewing.bases import Base
from catalog.services.reviewing.files import Found
from catalog.services.reviewing.keeping import Made
from catalog.sources import catalog_file, manifest
from catalog.sources.manifest_types import Manifest
from foundation import artifacts
from foundation.errors import BadInput, NotFound
from spellbook import plan_links, review_acknowledging, review_facts, review_making
from spellbook.review_making import Compared
from spellbook.review_measures import with_counts_or_not

FORK = "The manifest comes from a fork: it is what its author made of it."


def from_manifests(row: PullRequest, github: GitHub, at: datetime) -> Made | None:
    """The review of the head by its manifest as of the moment `at`; None while there is none.

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
    found, uncounted = _reviewed(row, head, read, base, facts, at)
    return review_making.made(
        row,
        found,
        links,
        Compared(head.sha256, head.origin, base.sha256 if base else "", base.commit if base else ""),
        subjects=review_acknowledging.subjects(found, facts.rules, read.project),
        graph_version=facts.graph_version,
        folder=github.settings.project_subdir,
        uncounted=uncounted,
    )


def _merge_base(row: PullRequest, github: GitHub) -> str:
    """Where the change starts from; "" when the two have nothing in common."""
    try:
        return github.merge_base(row.base_sha, row.head_sha)
    except NotFound:
        return ""


def _reviewed(
    row: PullRequest, head: Found, read: Manifest, base: Base | None, facts: FactsDocument, at: datetime
) -> tuple[types.Review, bool]:
    """The review, and whether a warehouse could not be asked for what it would have said."""
    if base is None:
        why = bases.missing(row, read.project)
        return types.Review(types.LOOK, (why,), (), notes=_notes(row), compared=why, at=at), False
    before = manifest.read(artifacts.load(base.sha256))
    catalog = files.posted(row, "catalog")
    read_catalog = catalog_file.read(catalog.load()) if catalog is not None else None
    known = gather(before, read, facts=(facts,), catalog=read_catalog)
    compared = f"The manifest of {row.head_sha[:12]} ({head.said}) was compared with {base.sentence}."
    policy = types.Policy(facts.rules)

    def reviewed(known: types.Knowledge) -> types.Review:
        return engine.review(before, read, known, policy, at=at, compared=compared)

    # A stranger's manifest decides nothing of what is asked of a warehouse.
    found, uncounted = (reviewed(known), False) if row.from_fork else with_counts_or_not(known, reviewed)
    return replace(found, notes=(*found.notes, *_notes(row))), uncounted


def _notes(row: PullRequest) -> tuple[str, ...]:
    return (FORK,) if row.from_fork else ()
