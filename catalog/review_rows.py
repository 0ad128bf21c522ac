"""Reading the rows of reviews."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from catalog.models import PullRequest, Review, ReviewAcknowledgement, ReviewRule
from foundation.errors import NotFound
from foundation.people import display_name

LARGE: Final = ("document", "markdown", "annotations")
"""What a list of reviews does without: a change of 2,000 models takes megabytes."""


def open_pull_requests() -> QuerySet[PullRequest]:
    """Those that are open or were never read, the gravest first is for whoever shows them; the newest first here."""
    return _listed(PullRequest.objects.filter(state__in=("unread", "open"))).order_by("-seen_at")


def closed_pull_requests() -> QuerySet[PullRequest]:
    """Those that are over and were reviewed, the newest first."""
    over = PullRequest.objects.filter(state__in=("closed", "merged"), review__isnull=False)
    return _listed(over).order_by("-read_at")


def _listed(rows: QuerySet[PullRequest]) -> QuerySet[PullRequest]:
    small = rows.select_related("connection", "review").defer(*(f"review__{name}" for name in LARGE))
    return small.prefetch_related("review__acknowledgements")


def reviews_of(row: PullRequest) -> QuerySet[Review]:
    """Every review of a pull request, the newest first."""
    return row.reviews.defer(*LARGE).order_by("-created_at")


def acknowledgements(review: Review | None) -> Sequence[tuple[ReviewAcknowledgement, str]]:
    """Who acknowledged a review, in order, with their names; none for None."""
    if review is None:
        return []
    made = review.acknowledgements.select_related("person__principal__name_row")
    return [(one, display_name(one.person.principal)) for one in made]


def rule_of(asset_id: int) -> ReviewRule | None:
    """The open rule that changes of an asset have to be acknowledged."""
    rows = ReviewRule.objects.filter(asset=asset_id, lifted_at__isnull=True)
    return rows.select_related("set_by__principal__name_row").first()


def pull_request(pk: UUID) -> PullRequest:
    """One pull request; NotFound when there is none."""
    found = PullRequest.objects.select_related("connection", "review").filter(pk=pk).first()
    if found is None:
        raise NotFound("There is no such pull request here.")
    return found
