"""Reviews over REST: a job posts the manifest of a commit, and reads what was said of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from pytest_django import Settings

from catalog.models import Build, Domain, GraphVersion, PullRequest, ReviewArtifact
from foundation.models import AuditRow
from spellbook import reviewing
from spellbook.api import api
from tests.github.double import Double
from tests.github.fixtures import github, judge  # noqa: F401
from tests.spellbook.machines import Machine
from tests.spellbook.review_world import FILTERED, ReviewWorld, manifest_of, review_world

SHA = "a" * 40


@pytest.fixture
def world(committing: str, settings: Settings, tmp_path: Path, github: Double) -> ReviewWorld:  # noqa: F811
    settings.ARTIFACTS_DIR = tmp_path / "artifacts"
    return review_world(github)


@pytest.fixture
def machine(world: ReviewWorld) -> Machine:
    return Machine.make(scopes=["review:write", "catalog:read"])


def post(machine: Machine, files: dict[str, bytes] | None = None, **fields: Any) -> tuple[int, Any]:
    sent: dict[str, Any] = {"repository": "acme/shop.models", "head_sha": SHA} | fields
    sent |= {name: SimpleUploadedFile(f"{name}.json", data) for name, data in (files or {}).items()}
    answer = machine.client.post("/api/v1/reviews", sent, headers=machine.headers)
    return answer.status_code, answer.json()


def test_a_posted_manifest_is_reviewed_and_never_becomes_a_build_or_a_graph_version(
    world: ReviewWorld, machine: Machine
) -> None:
    pull = world.pull(keep=False)
    head = world.github.world.head_of(pull)
    before = (Build.objects.count(), GraphVersion.objects.count())
    files = {"manifest": manifest_of(FILTERED)}
    status, told = post(machine, files, head_sha=head, pull_request=pull.number)
    row = PullRequest.objects.get()
    assert (status, told["created"]) == (202, True)
    assert told["reviews"] == [f"http://localhost:8000/reviews/{row.pk}"]
    reviewing.sweep(5)
    status, said = machine.get(f"/reviews/{row.pk}")
    assert (status, said["verdict"], said["current"], said["needs_answer"]) == (200, "dangerous", True, True)
    assert said["review"]["format"] == "spellbook.review/1"
    assert machine.get(f"/reviews/{said['id']}")[1]["digest"] == said["digest"]
    assert (Build.objects.count(), GraphVersion.objects.count()) == before
    assert post(machine, files, head_sha=head, pull_request=pull.number)[1]["created"] is False
    assert PullRequest.objects.get().asked == row.asked
    assert AuditRow.objects.filter(action="review.file_posted").count() == 1


def test_a_commit_may_be_posted_before_its_pull_request_is_known(world: ReviewWorld, machine: Machine) -> None:
    pull = world.pull(keep=False)
    assert post(machine, {"manifest": manifest_of(FILTERED)}, head_sha=world.github.world.head_of(pull))[0] == 202
    assert PullRequest.objects.count() == 0
    row = world.ask(pull)
    assert row.review is not None
    assert row.review.head_origin == "posted"


def test_a_posted_base_is_used_where_no_build_of_the_merge_base_is_known(world: ReviewWorld, machine: Machine) -> None:
    Build.objects.update(commit="f" * 40)
    pull = world.pull(keep=False)
    files = {"manifest": manifest_of(FILTERED), "base_manifest": manifest_of()}
    post(machine, files, head_sha=world.github.world.head_of(pull))
    row = world.ask(pull)
    assert row.review is not None
    assert "base manifest that a job posted" in row.review.compared


@pytest.mark.parametrize(
    ("files", "fields", "status", "words"),
    [
        ({}, {}, 422, "needs the manifest"),
        ({"manifest": b"{"}, {}, 422, ""),
        ({"manifest": manifest_of(), "base_manifest": b"[]"}, {}, 422, ""),
        ({"manifest": manifest_of()}, {"head_sha": "HEAD"}, 422, "head_sha is the whole id of a commit"),
        ({"manifest": manifest_of()}, {"head_sha": "a" * 39 + "\0"}, 422, "head_sha"),
        ({"manifest": manifest_of()}, {"repository": "acme/other"}, 404, "is no connection to a code host"),
        ({"manifest": manifest_of()}, {"pull_request": 0}, 422, "from 1 on"),
        ({"manifest": manifest_of()}, {"pull_request": 10**12}, 422, "from 1 on"),
        ({}, {"manifest": "text"}, 422, "send it as a file"),
    ],
)
def test_what_cannot_be_used_is_refused_with_nothing_half_written(
    files: dict[str, bytes], fields: dict[str, Any], status: int, words: str, world: ReviewWorld, machine: Machine
) -> None:
    told = post(machine, files, **fields)
    assert told[0] == status
    assert words in told[1]["message"]
    assert (PullRequest.objects.count(), ReviewArtifact.objects.count()) == (0, 0)


def test_a_token_without_the_scope_posts_nothing(world: ReviewWorld) -> None:
    other = Machine.make(scopes=["build:write"], name="other")
    assert post(other, {"manifest": manifest_of()})[0] == 403
    assert ReviewArtifact.objects.count() == 0


def test_names_are_hidden_from_a_token_whose_owner_may_not_read_them(world: ReviewWorld, machine: Machine) -> None:
    row = world.ask(world.pull())
    Domain.objects.update(restricted=True)
    said = machine.get(f"/reviews/{row.pk}")[1]
    assert "model.shop.orders" not in str(said)
    assert said["verdict"] == "dangerous"


def test_a_review_that_is_not_there_is_not_found(machine: Machine) -> None:
    status, told = machine.get(f"/reviews/{'0' * 8}-0000-0000-0000-{'0' * 12}")
    assert (status, told["error"]) == (404, "not_found")


def test_there_is_no_endpoint_that_acknowledges() -> None:
    paths = api.get_openapi_schema()["paths"]
    assert not [path for path in paths if "acknowledge" in path]
