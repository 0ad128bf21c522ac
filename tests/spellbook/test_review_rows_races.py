"""Two workers at once, and a worker killed between sending and noting: the pull request is told once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from django.db import connection
from pytest_django import Settings

from catalog.code_hosts.github.types import Annotation
from catalog.models import PullRequest, Review, ReviewDelivery
from catalog.services.reviewing import answers, posting, pull_requests
from foundation import due
from foundation.clock import now
from foundation.errors import SpellbookError
from foundation.models import AuditRow, Inbox
from spellbook import reviewing
from tests.github.double import Double, Trouble
from tests.github.fixtures import github, judge, open_github  # noqa: F401
from tests.spellbook.machines import command_line
from tests.spellbook.review_world import ReviewWorld, deliver, review_world

SWEEP = "import django; django.setup(); from spellbook import reviewing; reviewing.sweep(5)"
WORKERS = 6


@pytest.fixture
def world(committing: str, settings: Settings, tmp_path: Path, github: Double) -> ReviewWorld:  # noqa: F811
    settings.ARTIFACTS_DIR = tmp_path / "artifacts"
    return review_world(github)


def at_once(work: object, workers: int = WORKERS) -> list[BaseException]:
    """`work` in several threads that begin together; what they raise."""
    raised: list[BaseException] = []
    gate = threading.Barrier(workers)

    def run() -> None:
        try:
            gate.wait(timeout=30)
            work()  # type: ignore[operator]
        except BaseException as error:
            raised.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=100)
    assert not any(thread.is_alive() for thread in threads)
    return raised


@pytest.mark.prove
def test_workers_at_once_write_one_review_and_post_one_comment_and_one_check(world: ReviewWorld) -> None:
    pulls = [world.pull(head=f"change-{number}") for number in range(3)]
    for pull in pulls:
        world.send(world.event(pull))
    assert at_once(lambda: reviewing.sweep(10)) == []
    for _ in range(3):  # a delivery that one read after the others had looked
        reviewing.sweep(10)
    assert PullRequest.objects.exclude(review=None).count() == 3
    assert Review.objects.count() == 3
    assert Counter(one.number for one in world.github.world.comments.values()) == {pull.number: 1 for pull in pulls}
    assert len(world.github.world.checks) == 3
    assert AuditRow.objects.filter(action="review.posted").count() == 3


@pytest.mark.prove
def test_one_delivery_at_many_doors_is_kept_once(world: ReviewWorld) -> None:
    raw = json.dumps(world.event(world.pull(keep=False))).encode()
    kept: list[bool] = []
    assert at_once(lambda: kept.append(deliver(raw, delivery="d-1").json()["kept"])) == []
    assert sorted(kept) == [False] * (WORKERS - 1) + [True]
    assert (Inbox.objects.count(), ReviewDelivery.objects.count()) == (1, 1)


@pytest.mark.prove
@pytest.mark.parametrize("point", ["review.comment.created", "review.check.created"])
def test_a_kill_between_sending_and_noting_makes_no_second_comment(
    point: str, world: ReviewWorld, tmp_path: Path, committing: str
) -> None:
    world.send(world.event(world.pull()))
    environment = {
        **os.environ, "DATABASE_URL": committing, "SPELLBOOK_FAILPOINTS": point, "SPELLBOOK_DATA_DIR": str(tmp_path),
        "SPELLBOOK_OUTBOUND_ALLOW": "127.0.0.1,127.0.0.2", "DJANGO_SETTINGS_MODULE": "spellbook.settings",
    }  # fmt: skip
    died = subprocess.run([sys.executable, "-c", SWEEP], env=environment, capture_output=True, text=True, check=False)
    assert died.returncode == -9, died.stderr
    assert len(world.comments) == 1
    row = PullRequest.objects.get()
    assert (row.comment_id is None) == (point == "review.comment.created")
    assert row.posted_digest == ""

    PullRequest.objects.update(lease_until=now(), due_at=now())
    reviewing.sweep(5)
    row.refresh_from_db()
    assert (row.problem, row.posted_digest != "") == ("", True)
    assert len(world.comments) == 1
    assert world.comments[0].startswith(answers.marker(row))
    assert len(world.github.world.checks) == 1
    assert Review.objects.count() == 1


def test_a_host_that_hangs_up_after_it_made_the_comment_gets_no_second_one(world: ReviewWorld) -> None:
    world.ask(world.pull())
    PullRequest.objects.update(comment_id=None, posted_digest="")
    world.github.troubles.append(Trouble(status=502, on="POST /repos/acme/shop.models/issues", times=1))
    world.again()
    world.again()
    assert len(world.comments) == 1
    assert PullRequest.objects.get().comment_id is not None


def test_a_check_run_whose_later_remarks_were_lost_is_made_anew_with_all_of_them(world: ReviewWorld) -> None:
    row = world.ask(world.pull())
    remarks = tuple(Annotation("models/orders.sql", line, "warning", "Look", f"at {line}") for line in range(1, 121))
    answer = replace(reviewing.answer_to(row, row.review), annotations=remarks, title="Other")  # type: ignore[arg-type]
    world.github.troubles.append(Trouble(status=502, on="PATCH /repos/acme/shop.models/check-runs", times=99))
    with pytest.raises(SpellbookError):
        post_now(world, row, answer)
    world.github.troubles.clear()
    post_now(world, row, answer)
    newest = max(world.github.world.checks.values(), key=lambda one: one.id)
    assert [one["start_line"] for one in newest.annotations] == list(range(1, 121))
    row.refresh_from_db()
    assert row.check_run_id == newest.id


def post_now(world: ReviewWorld, row: PullRequest, answer: answers.Answer) -> None:
    """The answer posted by a worker that claimed the row."""
    PullRequest.objects.update(due_at=now(), lease_until=None)
    rows = PullRequest.objects.select_related("connection", "review").filter(pk=row.pk)
    (claimed,) = due.claim(rows, limit=1, lease=pull_requests.LEASE)
    with open_github(world.connection) as host:
        posting.post(claimed, answer, host, "https://spellbook.example/", actor=command_line())
