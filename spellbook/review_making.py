"""From what was found of a change to what is kept of it: the same for manifests and for files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catalog.models import PullRequest
from catalog.review import types
from catalog.review.as_document import as_dict
from catalog.review.comment.annotations import line_annotations
from catalog.review.comment.budget import ROOM
from catalog.review.comment.markdown import render
from catalog.services.reviewing import answers
from catalog.services.reviewing.keeping import Made
from spellbook import plan_links, review_acknowledging
from spellbook.plan_links import PlanLink
from spellbook.review_links import page_of


@dataclass(frozen=True, slots=True)
class Compared:
    """The digests of what was compared, where the head's came from, and the commit of the base ("" where nobody said
    or there is none)."""

    head: str
    origin: str
    base: str
    base_commit: str = ""


def made(
    row: PullRequest,
    found: types.Review,
    links: Sequence[PlanLink],
    compared: Compared,
    *,
    subjects: Sequence[Mapping[str, Any]],
    graph_version: int,
    folder: str = "",
    uncounted: bool = False,
) -> Made:
    """What is kept of `found`, with the plans that it carries. `folder` is where the project lies in the repository."""
    told = plan_links.with_links(found, links)
    remarks = line_annotations(told, folder=folder)
    return Made(
        head_manifest=compared.head,
        head_origin=compared.origin,
        base_manifest=compared.base,
        base_commit=compared.base_commit,
        compared=told.compared,
        graph_version=graph_version,
        verdict=told.verdict,
        needs_answer=review_acknowledging.needs_answer(told),
        subjects=subjects,
        document={**as_dict(told), "plans": plan_links.as_documents(links)},
        markdown=render(told, budget=ROOM, link=page_of(row)),
        annotations=[answers.annotation_as_dict(one) for one in remarks],
        uncounted=uncounted,
    )
