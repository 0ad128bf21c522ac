"""One commit has one check of a name, whatever pull requests it stands in; and no older verdict passes for its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from catalog.models import Asset, Domain, PullRequest
from spellbook.review_veil import Veil
from spellbook.sight import Sight
from tests.github.double import Double
from tests.github.fixtures import github, judge  # noqa: F401
from tests.spellbook.review_world import FILTERED, PLAIN, ReviewWorld, built, manifest_of, review_world

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["app", "token"])
def world(request: pytest.FixtureRequest, settings: Settings, tmp_path: Path, github: Double) -> ReviewWorld:  # noqa: F811
    settings.ARTIFACTS_DIR = tmp_path / "artifacts"
    return review_world(github, app=request.param == "app")


def latest(world: ReviewWorld, sha: str) -> str:
    """What the host shows for the commit under our name: the newest status, or the newest check run."""
    host = world.github.world
    if host.statuses:
        return str([one["state"] for one in host.statuses if one["sha"] == sha][-1])
    return str([one.values.get("conclusion") for one in host.checks.values() if one.head_sha == sha][-1])


def second_pull(world: ReviewWorld, sha: str) -> Any:
    """Another pull request of the commit, into a branch that holds the change and was built there."""
    host = world.github.world
    host.git.git("update-ref", "refs/heads/staging", sha)
    built(sha, manifest_of(FILTERED, stamp="staging"), key="staging-1")
    pull = host.open_pull({}, base="staging", head="change2")
    for ref in (f"refs/pull/{pull.number}/head", "refs/heads/change2"):
        host.git.git("update-ref", ref, sha)
    return pull


def test_a_harmless_pull_request_of_the_same_commit_does_not_turn_a_dangerous_ones_check(world: ReviewWorld) -> None:
    first = world.pull(FILTERED)
    sha = world.github.world.head_of(first)
    row = world.ask(first)
    assert row.review is not None
    assert (row.review.verdict, latest(world, sha)) == ("dangerous", "failure")
    other = world.ask(second_pull(world, sha))
    assert other.review is not None
    assert (other.head_sha, other.review.verdict) == (sha, "safe")
    assert latest(world, sha) == "failure"
    world.again()
    assert latest(world, sha) == "failure"


def test_a_head_that_cannot_be_reviewed_is_said_in_place_of_the_older_verdict(
    world: ReviewWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    pull = world.pull(PLAIN + " -- x")
    assert "Safe" in (world.ask(pull), world.comments[0])[1]
    changed = PLAIN + " where not is_test"
    world.github.world.push_to(pull, {"models/orders.sql": changed})
    world.keep(pull, manifest_of(changed, stamp="later"))

    def broken(*args: object, **more: object) -> object:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("spellbook.review_manifests.review_facts.document", broken)
    row = world.ask(pull)
    assert (row.failures, "A fault of ours" in row.problem) == (1, True)
    assert "is not reviewed" in world.comments[0]
    assert latest(world, row.head_sha) == "failure"


def test_tables_of_a_restricted_domain_that_a_change_leads_to_are_not_named_to_strangers(world: ReviewWorld) -> None:
    secret = Domain.objects.create(key="hr", name="HR", restricted=True, owner=world.people["owner"])
    Asset.objects.filter(name="dev.main.revenue").update(domain=secret)
    row = PullRequest.objects.select_related("review").get(pk=world.ask(world.pull()).pk)
    assert row.review is not None
    assert "revenue" in repr(row.review.document)
    assert "revenue" not in repr(Veil(Sight(world.people["stranger"])).document(row.review))
    assert "revenue" in repr(Veil(Sight(world.people["admin"])).document(row.review))
