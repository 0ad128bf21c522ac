"""The way of one pull request: read it from its host, find its files, review, keep, post; and the sweep that does so.

Each look begins anew with what the host says, so that it can be repeated after a crash, and a replayed webhook changes
nothing. Nothing here runs inside a transaction but the writes of the services.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from catalog.code_hosts.github.client import GitHub, open_github
from catalog.models import PullRequest, Review
from catalog.review.moments import written
from catalog.review_rows import acknowledgements
from catalog.services.reviewing import answers, deliveries, keeping, posting, pull_requests
from catalog.services.reviewing.answers import Acknowledged, Answer
from catalog.services.reviewing.keeping import Made
from foundation import due
from foundation.audit import Actor
from foundation.clock import now
from foundation.errors import BadInput, Conflict, SpellbookError
from spellbook import review_acknowledging, stuck
from spellbook.conductor import conductor
from spellbook.review_from_files import from_files
from spellbook.review_links import page_of
from spellbook.review_manifests import from_manifests

log = logging.getLogger(__name__)

Source: TypeAlias = Callable[[PullRequest, GitHub, datetime], Made | None]
"""From a pull request to its review as of a moment; None while what it is made of is not there. BadInput when that
cannot be used."""
SOURCES: Final[tuple[Source, ...]] = (from_files, from_manifests)
"""The first that gives a review counts."""

POLL: Final = timedelta(minutes=30)
"""A webhook comes sooner; this is for those that were lost, and for facts that changed."""
SOON: Final = timedelta(minutes=1)
PATIENCE: Final = timedelta(hours=2)
"""So long a manifest is waited for; then its absence is said."""
TROUBLE: Final = timedelta(seconds=10)
LONGEST: Final = timedelta(hours=1)
GIVEN_UP: Final = 8
"""Failed looks after which a pull request that was never read is left until somebody asks again."""
OUR_FAULT: Final = "A fault of ours; the log of the installation has the details."


def sweep(limit: int) -> int:
    """Read what webhooks brought, then look at the pull requests that are due, each under a lease of its own; how many
    there were."""
    actor = conductor()
    deliveries.read_due(limit, actor=actor)
    waiting = PullRequest.objects.select_related("connection", "review")
    for done in range(limit):
        rows = due.claim(waiting, limit=1, lease=pull_requests.LEASE)
        if not rows:
            return done
        _advance(rows[0], actor)
    return limit


def look(row: PullRequest, *, actor: Actor, at: datetime | None = None) -> timedelta | None:
    """One look at a claimed pull request, as of the moment `at` (None: now); returns when to look again (None: when
    somebody asks).

    Raises what host and services raise; what was done until then is noted.
    """
    with open_github(row.connection) as github:
        pull_requests.note_read(row, github.pull_request(row.number), actor=actor)
        if row.state != "open":
            return None
        answer, pause = _answer(row, github, actor, at or now())
        posting.post(row, _of_commit(row, answer), github, page_of(row), actor=actor)
    return pause


def _of_commit(row: PullRequest, answer: Answer) -> Answer:
    """The answer with a check that fails while another open pull request of the same commit waits for a person.

    The host knows one check of a name on a commit: a harmless review into one branch opens no way into another.
    """
    others = PullRequest.objects.filter(connection=row.connection_id, head_sha=row.head_sha, state="open")
    for other in others.exclude(pk=row.pk).select_related("review").order_by("number"):
        review = other.review
        if review is not None and review.needs_answer and not review_acknowledging.answered(review):
            return answers.failing_with(answer, other.number)
    return answer


def answer_to(row: PullRequest, review: Review) -> Answer:
    """What the host is told of a review, with who acknowledged it."""
    people = [Acknowledged(name, written(one.at), one.reason) for one, name in acknowledgements(review)]
    return answers.reviewed(row, review, review_acknowledging.answered(review), people)


def _answer(row: PullRequest, github: GitHub, actor: Actor, at: datetime) -> tuple[Answer, timedelta]:
    """The answer, and when to look again."""
    try:
        made = next((made for source in SOURCES if (made := source(row, github, at)) is not None), None)
    except BadInput as error:
        _tell(row, str(error))
        return answers.failed(row, str(error), page_of(row)), POLL
    if made is not None:
        review = keeping.keep(row, made, actor=actor)
        pull_requests.hold(row, waiting_since=None, problem="")
        return answer_to(row, review), POLL
    return _waiting(row, at)


def _waiting(row: PullRequest, moment: datetime) -> tuple[Answer, timedelta]:
    since = row.waiting_since or moment
    pull_requests.hold(row, waiting_since=since)
    if moment - since < PATIENCE:
        return answers.waiting(row, page_of(row)), max(SOON, (moment - since) / 10)
    hours = int(PATIENCE.total_seconds() // 3600)
    problem = (
        f"No manifest of {row.head_sha[:12]} came within {hours} hours. The workflow keeps it as an artifact of the "
        "name that the connection gives, or a job posts it to /api/v1/reviews."
    )
    _tell(row, problem)
    return answers.failed(row, problem, page_of(row)), POLL


def _advance(row: PullRequest, actor: Actor) -> None:
    """A look, and the row given back; trouble is said on its page and tried again after growing pauses."""
    try:
        pause = look(row, actor=actor)
    except Conflict:  # another worker has it
        return
    except SpellbookError as error:
        _told_there(row, str(error), actor)
        _failed(row, str(error), getattr(error, "until", None))
    except Exception:
        log.exception("%s could not be reviewed", row)
        _told_there(row, OUR_FAULT, actor)
        _failed(row, OUR_FAULT, None)
    else:
        pull_requests.give_back(row, pause, failures=0)


def _told_there(row: PullRequest, problem: str, actor: Actor) -> None:
    """Say at the host that its head is not reviewed, where an older commit's review would pass for that of this one."""
    if row.state != "open" or (row.review is not None and row.review.head_sha == row.head_sha):
        return
    try:
        with open_github(row.connection) as github:
            answer = answers.failed(row, problem, page_of(row))
            posting.post(row, answer, github, page_of(row), actor=actor)
    except SpellbookError as error:  # most likely the trouble of before; the next look says it
        log.info("%s could not be told that it is not reviewed: %s", row, error)


def _failed(row: PullRequest, problem: str, until: datetime | None) -> None:
    stuck.note(row, problem)
    failures = row.failures + 1
    pause: timedelta | None = min(TROUBLE * 2 ** min(failures, 12), LONGEST)
    if until is not None:
        pause = min(max(until - now(), TROUBLE), PATIENCE)
    elif row.state == "unread" and failures >= GIVEN_UP:
        pause = None
    pull_requests.give_back(row, pause, problem=problem[:500], failures=min(failures, 1000))


def _tell(row: PullRequest, problem: str) -> None:
    pull_requests.hold(row, problem=problem[:500])
    stuck.note(row, problem)
