"""A person of the domain says that a change may go on although it is dangerous, and why; it counts for one review."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from django.db import IntegrityError

from catalog import actions
from catalog.models import PullRequest, Review, ReviewAcknowledgement
from catalog.services.reviewing import pull_requests
from foundation import audit, clock
from foundation.audit import Actor
from foundation.errors import BadInput, Conflict, NotAllowed, NotFound
from foundation.locks import lock, transaction
from foundation.models import Person, Principal
from foundation.refusals import kept

LONGEST = 500
Right = Callable[[Person, Review], Sequence[str]]
"""From a person and a review to what of its subjects the person answers for, as unique ids; NotAllowed for nothing."""


def acknowledge(
    review_id: UUID, digest: str, reason: str, *, person: Person, right: Right, actor: Actor
) -> ReviewAcknowledgement:
    """Record the acknowledgement of the review as it was shown, and have comment and check brought up to it.

    `digest` is that of the review which the person saw. A refused attempt is recorded too. BadInput without a reason;
    NotAllowed for whoever is no signed-in person or has no right; Conflict when another review took its place, the pull
    request is over, nothing asks for an acknowledgement, or the person gave one before; NotFound.
    """
    review = Review.objects.select_related("pull_request__connection").filter(pk=review_id).first()
    if review is None:
        raise NotFound("There is no such review.")
    words = " ".join(reason.split())
    facts = {
        "verdict": review.verdict, "number": str(review.pull_request.number), "reason": words[:LONGEST],
        "repository": pull_requests.repository_of(review.pull_request.connection),
    }  # fmt: skip
    with kept(actor, actions.REVIEW_ACKNOWLEDGED, review, facts):
        try:
            return _recorded(review, digest, words, person, right, actor, facts)
        except IntegrityError:
            raise Conflict("You acknowledged this review before.") from None


def _recorded(
    review: Review, digest: str, words: str, person: Person, right: Right, actor: Actor, facts: dict[str, str]
) -> ReviewAcknowledgement:
    if not words or len(words) > LONGEST or "\0" in words:
        raise BadInput(f"Say in 1 to {LONGEST} characters why the change may go on.")
    with transaction():
        row = lock(PullRequest.objects.all(), pk=review.pull_request_id)
        fresh = Person.objects.select_related("principal").get(pk=person.pk)
        if actor.principal.pk != fresh.principal_id or actor.principal.kind != Principal.Kind.HUMAN:
            raise NotAllowed("Only a signed-in person acknowledges a change, and only in their own name.")
        _check_state(row, review, digest)
        if not fresh.is_active:
            raise NotAllowed("You are deactivated.")
        covers = right(fresh, review)
        if ReviewAcknowledgement.objects.filter(review=review, person=fresh).exists():
            raise Conflict("You acknowledged this review before.")
        made = ReviewAcknowledgement.objects.create(
            review=review, person=fresh, reason=words, covers=list(covers), at=clock.now()
        )
        pull_requests.ask_again(PullRequest.objects.filter(pk=row.pk))
        audit.record(actor, actions.REVIEW_ACKNOWLEDGED, review, facts=facts)
    return made


def _check_state(row: PullRequest, review: Review, digest: str) -> None:
    if row.state in ("closed", "merged"):
        raise Conflict(f"The pull request is {row.state}; there is nothing left to acknowledge.")
    if row.review_id != review.pk or row.head_sha != review.head_sha or review.digest != digest:
        raise Conflict("A newer commit or review has taken the place of the one that you saw; look at it first.")
    if not review.needs_answer:
        raise Conflict("Nothing in this review asks for an acknowledgement.")
