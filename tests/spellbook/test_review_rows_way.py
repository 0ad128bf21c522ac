"""The way of a pull request with a real client and a GitHub of tests: read, reviewed, posted, and posted once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pytest_django import Settings

from catalog.models import GraphVersion, PullRequest, Review, ReviewArtifact
from catalog.services.declare import declare
from catalog.services.reviewing import answers, files, pull_requests
from foundation import due
from foundation.clock import now
from foundation.models import AuditRow
from foundation.triggers import missing
from spellbook import reviewing
from spellbook.review_manifests import from_manifests
from tests.github.double import Double, Trouble
from tests.github.fixtures import github, judge, open_github  # noqa: F401
from tests.github.world import zipped
from tests.spellbook.machines import command_line
from tests.spellbook.review_world import (
    ARTIFACT,
    FILTERED,
    PLAIN,
    ReviewWorld,
    built,
    manifest_of,
    mirror,
    review_world,
)


@pytest.fixture
def world(committing: str, settings: Settings, tmp_path: Path, github: Double) -> ReviewWorld:  # noqa: F811
    settings.ARTIFACTS_DIR = tmp_path / "artifacts"
    return review_world(github)


def test_a_dangerous_change_is_reviewed_and_posted_as_one_comment_and_one_check(world: ReviewWorld) -> None:
    versions = GraphVersion.objects.count()
    row = world.ask(world.pull())
    assert row.problem == ""
    review = row.review
    assert review is not None
    assert (review.verdict, review.needs_answer, review.head_sha) == ("dangerous", True, row.head_sha)
    assert review.base_commit == world.base
    assert "night-1" in review.compared
    assert "orders to ads" in review.markdown
    (comment,) = world.comments
    assert comment.startswith(answers.marker(row))
    assert "is_test" in comment
    (check,) = world.github.world.checks.values()
    assert (check.values["conclusion"], check.values["status"]) == ("failure", "completed")
    assert check.head_sha == row.head_sha
    assert check.annotations
    assert GraphVersion.objects.count() == versions
    assert row.due_at is not None
    assert row.due_at > now() + timedelta(minutes=20)


def test_looking_again_changes_nothing_and_sends_nothing(world: ReviewWorld) -> None:
    row = world.ask(world.pull())
    sent = len(world.github.asked("POST ")) + len(world.github.asked("PATCH "))
    world.again()
    world.again()
    assert len(world.github.asked("POST ")) + len(world.github.asked("PATCH ")) - sent <= 2  # new tokens of the App
    assert Review.objects.count() == 1
    assert len(world.comments) == 1
    assert AuditRow.objects.filter(action="review.posted", target_id=str(row.pk)).count() == 1


def test_the_hour_at_which_it_is_reviewed_makes_no_other_review(world: ReviewWorld) -> None:
    second = {**mirror(), "asset": "orders to mails", "schedule": {"cron": "0 14 * * *", "zone": "UTC"}}
    declare({"consumers": [second]}, actor=command_line())
    world.ask(world.pull())
    posted = PullRequest.objects.get().posted_digest
    first = []
    for hour in (1, 3, 13, 15):
        PullRequest.objects.update(due_at=now())
        rows = PullRequest.objects.select_related("connection", "review")
        (row,) = due.claim(rows, limit=1, lease=pull_requests.LEASE)
        at = datetime(2031, 3, 4, hour, tzinfo=UTC)
        reviewing.look(row, actor=command_line(), at=at)
        pull_requests.give_back(row, None)
        with open_github(world.connection) as host:
            found = from_manifests(row, host, at)
        assert found is not None
        first.append(found.document["readers"][0]["name"])
    assert first == ["orders to ads", "orders to mails", "orders to mails", "orders to ads"]
    row.refresh_from_db()
    assert (Review.objects.count(), row.posted_digest) == (1, posted)


def test_a_reader_that_is_declared_meanwhile_makes_another_review(world: ReviewWorld) -> None:
    row = world.ask(world.pull())
    second = {**mirror(), "asset": "orders to mails"}
    declare({"consumers": [second]}, actor=command_line())
    world.again()
    row.refresh_from_db()
    assert Review.objects.count() == 2
    assert row.review is not None
    assert "orders to mails" in row.review.markdown
    assert len(world.comments) == 1
    assert "orders to mails" in world.comments[0]


def test_a_harmless_change_is_safe_and_its_check_succeeds(world: ReviewWorld) -> None:
    row = world.ask(world.pull(PLAIN + " -- a word"))
    assert row.review is not None
    assert row.review.verdict == "safe"
    assert [one.values["conclusion"] for one in world.github.world.checks.values()] == ["success"]


def test_a_comment_that_was_deleted_is_made_again(world: ReviewWorld) -> None:
    world.ask(world.pull())
    world.github.world.comments.clear()
    world.again()
    assert len(world.comments) == 1


def test_a_new_commit_waits_for_its_manifest_and_the_comment_says_so(world: ReviewWorld) -> None:
    pull = world.pull()
    row = world.ask(pull)
    first = row.review
    head = world.github.world.push_to(pull, {"models/orders.sql": PLAIN})
    row = world.ask(pull)
    assert row.head_sha == head
    assert row.waiting_since is not None
    (comment,) = world.comments
    assert f"Waiting for the manifest of {head[:12]}" in comment
    waiting = [one for one in world.github.world.checks.values() if one.head_sha == head]
    assert [one.values["status"] for one in waiting] == ["in_progress"]

    world.keep(pull, manifest_of(PLAIN, stamp="second"))
    world.again()
    row.refresh_from_db()
    assert row.review not in (None, first)
    assert PullRequest.objects.get().waiting_since is None
    assert len(world.comments) == 1
    assert "Waiting" not in world.comments[0]


def test_an_artifact_with_a_number_of_twelve_digits_is_kept(world: ReviewWorld) -> None:
    pull = world.pull(keep=False)
    run = world.github.world.run(world.github.world.head_of(pull), head_repository=pull.head_repository)
    data = zipped({"manifest.json": manifest_of(FILTERED, stamp="head")})
    world.github.world.keep(run, ARTIFACT, data).id = 123_456_789_012
    row = world.ask(pull)
    assert row.problem == ""
    assert row.review is not None
    assert row.review.head_origin == "artifact:123456789012"


def test_a_manifest_that_never_comes_fails_the_check_and_says_what_to_do(world: ReviewWorld) -> None:
    row = world.ask(world.pull(keep=False))
    assert row.review is None
    assert world.comments == []
    PullRequest.objects.update(waiting_since=now() - timedelta(hours=3))
    world.again()
    row.refresh_from_db()
    assert "No manifest" in row.problem
    (check,) = world.github.world.checks.values()
    assert check.values["conclusion"] == "failure"


def test_without_a_base_nothing_is_safe(world: ReviewWorld) -> None:
    pull = world.github.world.open_pull({"a.txt": "x"})
    world.keep(pull, manifest_of(PLAIN, project="another"))
    row = world.ask(pull)
    assert row.review is not None
    assert (row.review.verdict, row.review.base_manifest) == ("look", "")
    assert "Nothing is known to compare with" in world.comments[0]
    assert [one.values["conclusion"] for one in world.github.world.checks.values()] == ["neutral"]


def test_the_newest_build_is_the_base_where_none_of_the_merge_base_is_known_and_that_is_said(
    world: ReviewWorld,
) -> None:
    world.github.world.commit("main", {"more.txt": "x"})
    row = world.ask(world.pull())
    assert row.review is not None
    assert "it is not known whether" in row.review.compared
    built(world.github.world.git.tip("main"), manifest_of(stamp="newer"), key="night-2")
    world.again()
    row.refresh_from_db()
    assert row.review is not None
    assert "where the change starts from" in row.review.compared


@pytest.mark.parametrize(
    "data", [b"{", b"[]", b'{"nodes": 7}', b"\x00" * 100], ids=["cut", "list", "numbers", "binary"]
)
def test_a_manifest_that_cannot_be_read_fails_the_check_in_a_sentence(data: bytes, world: ReviewWorld) -> None:
    pull = world.pull(keep=False)
    world.keep(pull, data)
    row = world.ask(pull)
    assert row.problem
    assert row.review is None
    (check,) = world.github.world.checks.values()
    assert check.values["conclusion"] == "failure"
    assert "Traceback" not in str(check.values)


def test_a_fork_that_was_deleted_is_reviewed_from_what_its_run_left(world: ReviewWorld) -> None:
    pull = world.pull(fork="stranger/shop.models", author="stranger")
    pull.head_repository = None
    row = world.ask(pull)
    assert (row.from_fork, row.head_repository) == (True, "")
    assert row.review is not None
    assert row.review.verdict == "dangerous"
    assert any("fork" in note for note in row.review.document["notes"])


def test_a_closed_one_is_left_alone_until_somebody_asks(world: ReviewWorld) -> None:
    pull = world.pull()
    world.ask(pull)
    pull.state = "closed"
    row = world.ask(pull)
    assert (row.state, row.due_at) == ("closed", None)


def test_trouble_of_the_host_is_said_on_the_row_and_tried_again_after_growing_pauses(world: ReviewWorld) -> None:
    pull = world.pull()
    world.github.troubles.append(Trouble(status=404, on=f"GET /repos/{world.github.world.full_name}/pulls/", times=2))
    row = world.ask(pull)
    assert row.problem
    assert (row.failures, row.lease_token) == (1, None)
    first = row.due_at
    world.again()
    row.refresh_from_db()
    assert first is not None
    assert row.due_at is not None
    assert row.failures == 2
    world.again()
    row.refresh_from_db()
    assert (row.failures, row.problem) == (0, "")
    assert row.review is not None


def test_what_the_host_does_not_have_is_given_up_until_somebody_asks_again(world: ReviewWorld) -> None:
    pull_requests.ask(world.connection, 999, actor=command_line())
    for _ in range(reviewing.GIVEN_UP):
        world.again()
    row = PullRequest.objects.get()
    assert (row.state, row.due_at, row.failures) == ("unread", None, reviewing.GIVEN_UP)
    assert row.problem
    pull_requests.ask(world.connection, 999, actor=command_line())
    assert PullRequest.objects.get().due_at is not None


def test_a_host_that_wants_a_pause_gets_it(world: ReviewWorld) -> None:
    pull = world.pull()
    world.github.troubles.append(Trouble(status=429, headers={"Retry-After": "600"}, on="/pulls/", times=9))
    row = world.ask(pull)
    assert row.due_at is not None
    assert timedelta(minutes=8) < row.due_at - now() <= timedelta(minutes=10)
    assert world.comments == []


def test_a_token_sets_a_status_where_only_an_app_may_write_a_check(
    committing: str, settings: Settings, tmp_path: Path, github: Double  # noqa: F811
) -> None:  # fmt: skip
    settings.ARTIFACTS_DIR = tmp_path / "artifacts"
    world = review_world(github, app=False)
    world.ask(world.pull())
    assert github.world.checks == {}
    assert [one["state"] for one in github.world.statuses] == ["failure"]
    assert len(world.comments) == 1


def test_a_posted_manifest_goes_before_the_artifact_and_is_no_build(world: ReviewWorld) -> None:
    pull = world.pull(keep=False)
    head = world.github.world.head_of(pull)
    assert files.post(world.connection, head, {"manifest": manifest_of(FILTERED)}, actor=command_line())
    assert not files.post(world.connection, head, {"manifest": manifest_of(FILTERED)}, actor=command_line())
    row = world.ask(pull)
    assert row.review is not None
    assert (row.review.head_origin, row.review.verdict) == ("posted", "dangerous")
    assert ReviewArtifact.objects.count() == 1


def test_what_somebody_asks_for_during_a_look_is_looked_at_again(world: ReviewWorld) -> None:
    row = world.ask(world.pull())
    PullRequest.objects.update(due_at=now())
    (claimed,) = due.claim(PullRequest.objects.all(), limit=1, lease=pull_requests.LEASE)
    pull_requests.ask(world.connection, row.number, actor=command_line())
    pull_requests.give_back(claimed, timedelta(hours=1))
    row.refresh_from_db()
    assert row.due_at is not None
    assert row.due_at <= now()


def test_a_worker_that_lost_its_lease_posts_nothing(world: ReviewWorld) -> None:
    row = world.ask(world.pull())
    PullRequest.objects.update(due_at=now(), posted_digest="")
    (slow,) = due.claim(PullRequest.objects.select_related("connection", "review"), limit=1, lease=timedelta())
    PullRequest.objects.filter(pk=row.pk).update(lease_token=None)
    sent = len(world.github.asked("PATCH "))
    reviewing._advance(slow, command_line())
    assert len(world.github.asked("PATCH ")) == sent
    assert PullRequest.objects.get().posted_digest == ""


def test_the_triggers_are_there(committing: str) -> None:
    assert missing() == []
