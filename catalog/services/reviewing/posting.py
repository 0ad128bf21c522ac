"""Posting an answer: the row says what stands at the host, and what is wanted is compared with that.

What a kill may leave between sending and noting (a comment, a check run) is found again by its marker before another is
made; the lease is renewed before each write, so that two workers never post the same.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from catalog import actions
from catalog.code_hosts.github.checks import BATCH, Report
from catalog.code_hosts.github.client import GitHub
from catalog.models import PullRequest
from catalog.services.reviewing import pull_requests
from catalog.services.reviewing.answers import Answer, marker
from foundation import audit, clock, failpoint
from foundation.audit import Actor
from foundation.errors import NotFound
from foundation.locks import transaction


def post(row: PullRequest, answer: Answer, github: GitHub, details_url: str, *, actor: Actor) -> bool:
    """Bring comment and check of the pull request to `answer`; whether anything was sent.

    A comment that somebody deleted is made again. Conflict when the row went to another worker; the host's errors as
    they are, with what was done until then noted.
    """
    wanted = answer.digest(row.head_sha)
    there = row.posted_digest == wanted
    if there and not (answer.comment and github.find_comment(row.number, marker(row)) is None):
        return False
    if answer.comment:
        _comment(row, answer.comment, github)
    if not there:
        (_check_run if github.may_check else _status)(row, answer, github, details_url)
    with transaction():
        pull_requests.hold(row, posted_digest=wanted, posted_at=clock.now())
        facts: pull_requests.AuditFacts = {
            "number": row.number,
            "repository": pull_requests.repository_of(row.connection),
            "what": answer.title,
        }
        audit.record(actor, actions.REVIEW_POSTED, row, facts=facts)
    return True


def _comment(row: PullRequest, body: str, github: GitHub) -> None:
    known = row.comment_id
    if known is not None and _still_there(lambda: _written(row, github, known, body)):
        return
    found = github.find_comment(row.number, marker(row))
    pull_requests.still_ours(row)
    if found is None:
        found = github.create_comment(row.number, body)
        failpoint.hit("review.comment.created")
    else:
        github.update_comment(found, body)
    pull_requests.hold(row, comment_id=found)


def _written(row: PullRequest, github: GitHub, comment_id: int, body: str) -> None:
    pull_requests.still_ours(row)
    github.update_comment(comment_id, body)


def _check_run(row: PullRequest, answer: Answer, github: GitHub, details_url: str) -> None:
    """Remarks on lines cannot be taken back: where they are others, a new check run of the name takes its place.

    So it does where one was found that nobody noted and whose remarks do not go in one request: it is not known how
    many of them it has.
    """
    name, remarks = github.settings.check_name, answer.remarks(row.head_sha)
    said = Report(answer.status, answer.conclusion, answer.title, answer.summary, details_url=details_url)
    external_id = f"{row.pk}:{remarks[:16]}"
    known = row.check_run_id if row.check_run_for == remarks else None
    pull_requests.still_ours(row)
    if known is not None and _still_there(lambda: github.update_check_run(known, said)):
        return
    whole = len(answer.annotations) <= BATCH
    found = github.find_check_run(row.head_sha, name, external_id) if whole else None
    pull_requests.still_ours(row)
    if found is None:
        whole_report = replace(said, annotations=answer.annotations)
        found = github.create_check_run(row.head_sha, whole_report, name=name, external_id=external_id)
        failpoint.hit("review.check.created")
    else:
        github.update_check_run(found, said)
    pull_requests.hold(row, check_run_id=found, check_run_for=remarks)


def _status(row: PullRequest, answer: Answer, github: GitHub, details_url: str) -> None:
    """What a token may set where only an App may write a check run; setting it again replaces it."""
    pull_requests.still_ours(row)
    github.set_status(
        row.head_sha, state=answer.state, context=github.settings.check_name, description=answer.title,
        details_url=details_url,
    )  # fmt: skip


def _still_there(write: Callable[[], None]) -> bool:
    with suppress(NotFound):
        write()
        return True
    return False
