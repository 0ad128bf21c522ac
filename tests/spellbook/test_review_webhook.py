"""The webhook's door: what is not verified never comes in, what came once never counts twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.db import IntegrityError
from django.test import Client
from pytest_django import Settings

from catalog.code_hosts.github.webhook import LARGEST
from catalog.models import PullRequest, Review, ReviewDelivery
from catalog.services.reviewing import deliveries
from foundation.canonical import sha256_hex
from foundation.clock import now
from foundation.models import Inbox
from spellbook import reviewing
from tests.github.double import Double
from tests.github.fixtures import github, judge  # noqa: F401
from tests.spellbook.machines import command_line
from tests.spellbook.review_world import ReviewWorld, deliver, review_world


@pytest.fixture
def world(committing: str, settings: Settings, tmp_path: Path, github: Double) -> ReviewWorld:  # noqa: F811
    settings.ARTIFACTS_DIR = tmp_path / "artifacts"
    return review_world(github)


def test_a_signed_delivery_is_stored_whole_answered_and_read_afterwards(world: ReviewWorld) -> None:
    raw = json.dumps(world.event(world.pull(keep=False))).encode()
    answer = deliver(raw, delivery="d-1")
    assert (answer.status_code, answer.json()) == (202, {"kept": True})
    row = Inbox.objects.get()
    assert (bytes(row.body), row.external_id) == (raw, f"sha256:{sha256_hex(raw)}")
    assert "x-hub-signature-256" not in row.headers
    assert row.headers["x-github-delivery"] == "d-1"
    assert PullRequest.objects.count() == 0
    assert deliveries.read_due(5, actor=command_line()) == 1
    assert PullRequest.objects.get().number == 1
    row.refresh_from_db()
    assert (row.refusal, row.due_at) == ("", None)
    assert row.processed_at is not None
    assert bytes(row.body) == b""
    assert row.external_id == f"sha256:{sha256_hex(raw)}"
    assert ReviewDelivery.objects.get().delivery == "d-1"
    assert deliver(raw, delivery="d-2").json() == {"kept": False}
    with pytest.raises(IntegrityError, match="never changes"):
        Inbox.objects.update(body=b"another")


def test_a_body_stays_as_it_came_until_it_is_read(world: ReviewWorld) -> None:
    world.send(world.event(world.pull(keep=False)))
    for body in (b"", b"another"):
        with pytest.raises(IntegrityError, match="never changes"):
            Inbox.objects.update(body=body)


def test_a_replay_under_the_same_or_another_delivery_id_changes_nothing(world: ReviewWorld) -> None:
    pull = world.pull()
    raw = json.dumps(world.event(pull)).encode()
    assert deliver(raw, delivery="d-1").json() == {"kept": True}
    reviewing.sweep(5)
    before = PullRequest.objects.values().get()
    sent = len(world.github.seen)
    for delivery in ("d-1", "d-2", "d-3"):
        assert deliver(raw, delivery=delivery).json() == {"kept": False}
    other = json.dumps(world.event(pull, "edited")).encode()
    assert deliver(other, delivery="d-1").json() == {"kept": False}
    assert reviewing.sweep(5) == 0
    assert PullRequest.objects.values().get() == before
    assert len(world.github.seen) == sent
    assert (Inbox.objects.count(), ReviewDelivery.objects.count(), Review.objects.count()) == (1, 1, 1)


def test_whatever_is_not_verified_gets_one_answer_and_leaves_nothing(world: ReviewWorld) -> None:
    raw = json.dumps(world.event(world.pull(keep=False))).encode()
    answers = [
        deliver(raw, secret="a wrong secret"),
        deliver(raw, name="unknown"),
        deliver(raw, name="wh"),
        deliver(raw, name="a name\nof two lines"),
        deliver(raw, **{"X-Hub-Signature-256": "sha1=abc"}),
        deliver(raw, **{"X-Hub-Signature-256": ""}),
        Client().post("/hooks/github/code", raw, content_type="application/json"),
        deliver(raw, **{"X-Hub-Signature-256": "sha256=" + "0" * 64}),
    ]
    assert {(one.status_code, one.content) for one in answers} == {(403, answers[0].content)}
    assert deliveries.REFUSED in answers[0].json()["message"]
    assert Inbox.objects.count() == 0


def test_a_connection_without_a_webhook_secret_lets_nothing_in(
    world: ReviewWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPELLBOOK_CONN_GITHUB_HOOK")
    raw = json.dumps(world.event(world.pull(keep=False))).encode()
    for secret in ("", "no connection has this name"):
        assert deliver(raw, secret=secret).status_code == 403


def test_the_body_is_read_up_to_25_megabytes(world: ReviewWorld) -> None:
    assert deliver(b" " * (LARGEST + 1)).status_code == 413
    answer = deliver(b'{"x": "' + b"a" * (LARGEST - 9) + b'"}')
    assert answer.status_code == 202  # over what Django takes of forms
    deliveries.read_due(5, actor=command_line())
    assert PullRequest.objects.count() == 0


def test_an_event_of_another_repository_is_refused_and_said(world: ReviewWorld) -> None:
    event = world.event(world.pull(keep=False), repository={"full_name": "acme/other"})
    assert world.send(event).status_code == 202
    deliveries.read_due(5, actor=command_line())
    row = Inbox.objects.get()
    assert "acme/other" in row.refusal
    assert PullRequest.objects.count() == 0


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"{", b"[]", b"null", b'"text"', b"\x00\xff", b'{"repository": 7}', b"[" * 100_000,
        b'{"action": "opened", "repository": {"full_name": "../../etc"}}',
        b'{"action": "opened", "pull_request": {"number": 1e400, "head": {"sha": "x"}}}',
        b'{"action": "opened", "pull_request": {"number": -1, "head": {"sha": "\\u0000"}}}',
        b'{"action": "opened", "pull_request": {"number": 99999999999999999999, "head": []}}',
        b"payload=%7B%22action%22%3A%22opened%22%7D",
    ],
    ids=range(13),
)  # fmt: skip
def test_hostile_json_is_refused_in_a_sentence_and_never_comes_again(raw: bytes, world: ReviewWorld) -> None:
    assert world.send(raw).status_code == 202
    assert deliveries.read_due(5, actor=command_line()) == 1
    row = Inbox.objects.get()
    assert row.refusal
    assert (row.due_at, PullRequest.objects.count()) == (None, 0)
    assert deliveries.read_due(5, actor=command_line()) == 0


def test_the_event_name_is_not_signed_and_changes_nothing_by_itself(world: ReviewWorld) -> None:
    event = world.event(world.pull(keep=False))
    for name in ("", "pull_request_review", "x" * 500, "installation"):
        world.send(event | {"sender": name}, event=name)
    deliveries.read_due(10, actor=command_line())
    assert PullRequest.objects.count() == 0


def test_a_run_of_a_workflow_wakes_the_pull_request_of_its_commit_a_fork_s_too(world: ReviewWorld) -> None:
    pull = world.pull(fork="stranger/shop.models")
    run = {"head_sha": world.github.world.head_of(pull), "pull_requests": []}
    body = {"action": "completed", "workflow_run": run, "repository": {"full_name": world.github.world.full_name}}
    world.send(body, event="workflow_run")
    reviewing.sweep(5)
    row = PullRequest.objects.get()
    assert (row.number, row.from_fork) == (pull.number, True)
    assert row.review is not None


def test_a_push_to_the_base_wakes_what_is_to_be_merged_into_it(world: ReviewWorld) -> None:
    row = world.ask(world.pull())
    asked = row.asked
    sha = world.github.world.commit("main", {"more.txt": "x"})
    body = {"ref": "refs/heads/main", "after": sha, "repository": {"full_name": world.github.world.full_name}}
    world.send(body, event="push")
    deliveries.read_due(5, actor=command_line())
    row.refresh_from_db()
    assert row.asked == asked + 1


def test_new_rights_of_the_app_wake_what_is_open(world: ReviewWorld) -> None:
    first = world.ask(world.pull())
    closed = PullRequest.objects.create(connection=world.connection, number=99, state="closed", seen_at=now())
    body = {"action": "new_permissions_accepted", "installation": {"id": 7}}
    world.send(body, event="installation")
    assert deliveries.read_due(5, actor=command_line()) == 1
    for row, more in ((first, 1), (closed, 0)):
        before = row.asked
        row.refresh_from_db()
        assert row.asked == before + more


def test_the_door_takes_posts_alone_without_session_or_csrf(world: ReviewWorld) -> None:
    assert Client().get("/hooks/github/code").status_code == 405
    strict = Client(enforce_csrf_checks=True)
    assert strict.post("/hooks/github/code", b"{}", content_type="application/json").status_code == 403
    answer = deliver(b"{}", delivery="d")
    assert answer.status_code == 202
    assert "Set-Cookie" not in answer.headers
    assert deliver(b"{ }", **{"X-GitHub-Delivery": ""}).status_code == 422
