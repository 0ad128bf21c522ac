"""Pull requests of a repository without dbt, with a real client and a GitHub of tests: from files to the comment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from approvals.services.drafting import seal_body
from catalog.code_hosts.local_git import unified_diff
from catalog.models import Asset, Domain, PullRequest, Review
from catalog.services.declare import declare
from catalog.services.reviewing import rules
from foundation import connections
from foundation.audit import Actor
from foundation.models import AuditRow, Person
from spellbook import review_acknowledging
from tests.approvals import builders
from tests.github.double import Double
from tests.github.fixtures import github, judge  # noqa: F401
from tests.spellbook.machines import command_line
from tests.spellbook.review_world import PLAIN, ReviewWorld, orders, review_world

pytestmark = [pytest.mark.django_db(transaction=False), pytest.mark.real, pytest.mark.both]
PROJECT, VIEW, COHORT = "pb_project.yaml", "models/view.yaml", "models/deep/cohort.yaml"
START: dict[str, str | bytes | None] = {
    PROJECT: "id_types: []\n", VIEW: "models: []\n", COHORT: "a: 1\n", "docs/a.md": "a\n",
    "activations/ads.yaml": "a\n",
}  # fmt: skip
FILES: list[dict[str, Any]] = [
    {"path": PROJECT, "asset": "dev.main.stg_orders"},
    {"path": "models/**/*.yaml", "asset": ["dev.main.orders", "nobody.knows.it"]},
    {"path": "activations/*.yaml", "asset": "orders to ads"},
    {"path": "docs/", "asset": []},
]


@pytest.fixture
def world(db: None, settings: Settings, tmp_path: Path, github: Double) -> ReviewWorld:  # noqa: F811
    settings.ARTIFACTS_DIR = tmp_path / "artifacts"
    found = review_world(github, files=FILES)
    found.github.world.commit("main", START)
    return found


def ask(world: ReviewWorld, files: dict[str, str | bytes | None], **more: Any) -> PullRequest:
    """The pull request that changes these files, looked at once."""
    row = world.ask(world.github.world.open_pull(files, **more))
    assert row.problem == ""
    return row


def reviewed(world: ReviewWorld, files: dict[str, str | bytes | None], **more: Any) -> Review:
    found = ask(world, files, **more).review
    assert found is not None
    return found


def mine(person: Person) -> Actor:
    return Actor(person.principal, "web")


def conclusions(world: ReviewWorld) -> list[str]:
    return [one.values["conclusion"] for one in world.github.world.checks.values()]


def page(person: Person, review: Review) -> str:
    client = Client()
    client.force_login(person)
    answer = client.get(f"/reviews/{review.pull_request_id}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_changed_file_is_commented_with_the_readers_and_their_next_read(world: ReviewWorld) -> None:
    review = reviewed(world, {PROJECT: "id_types: [email]\n"})
    assert (review.verdict, review.needs_answer, review.head_origin) == ("look", False, "files")
    (comment,) = world.comments
    assert "pb\\_project.yaml makes dev.main.stg\\_orders; what its change does to the rows is not known." in comment
    assert "Mirror sync `orders to ads`" in comment
    assert "02:00 UTC" in comment
    assert conclusions(world) == ["neutral"]
    assert not [one for one in world.github.asked("GET ") if "/actions/" in str(one)]
    (check,) = world.github.world.checks.values()
    assert [(one["path"], one["start_line"]) for one in check.annotations] == [(PROJECT, 1)]
    assert "orders to ads" in page(world.people["owner"], review)


def test_looking_again_writes_and_sends_nothing(world: ReviewWorld) -> None:
    row = ask(world, {PROJECT: "id_types: [email]\n"})
    posted = row.posted_digest
    world.again()
    row.refresh_from_db()
    assert (Review.objects.count(), row.posted_digest) == (1, posted)
    assert AuditRow.objects.filter(action="review.posted").count() == 1


def test_a_removed_file_of_a_table_with_readers_is_dangerous_until_its_people_acknowledge_it(
    world: ReviewWorld,
) -> None:
    review = reviewed(world, {COHORT: None})
    assert (review.verdict, review.needs_answer) == ("dangerous", True)
    assert review.subjects == [
        {"unique_id": "dev.main.orders", "asset": orders().pk},
        {"unique_id": "nobody.knows.it", "asset": None},
    ]
    assert conclusions(world) == ["failure"]
    assert not review_acknowledging.may_acknowledge(world.people["stranger"], review)
    client = Client()
    client.force_login(world.people["approver"])
    form = {"review": str(review.pk), "digest": review.digest, "reason": "It moved to another file."}
    assert client.post(f"/reviews/{review.pull_request_id}/acknowledge", form).status_code == 302
    world.again()
    assert conclusions(world) == ["neutral"]
    assert "It moved to another file" in world.comments[0]


def test_only_files_that_are_declared_to_make_no_table_are_safe(world: ReviewWorld) -> None:
    assert reviewed(world, {"docs/a.md": "b\n"}).verdict == "safe"
    assert conclusions(world) == ["success"]
    unknown = reviewed(world, {"docs/a.md": "b\n", "scripts/run.sh": "x\n"}, head="second")
    assert unknown.verdict == "look"
    assert "1 changed file belongs to no known asset" in world.comments[1]


def test_a_rule_on_the_asset_of_a_file_asks_for_an_acknowledgement(world: ReviewWorld) -> None:
    owner = world.people["owner"]
    rules.set_rule(orders(), "Finance closes its books on it.", person=owner, actor=mine(owner))
    assert not reviewed(world, {PROJECT: "x\n"}).needs_answer  # it makes another table
    review = reviewed(world, {VIEW: "models: [a]\n"}, head="second")
    assert (review.verdict, review.needs_answer) == ("look", True)
    assert review.subjects[0]["asset"] == orders().pk
    assert "Finance closes its books on it" in world.comments[1]


@pytest.mark.parametrize("hidden", [False, True], ids=["open", "restricted"])
def test_a_rule_of_a_reader_is_touched_by_a_file_that_feeds_it(hidden: bool, world: ReviewWorld) -> None:
    owner = world.people["owner"]
    sync = Asset.objects.get(name="orders to ads")
    rules.set_rule(sync, "A secret campaign.", person=owner, actor=mine(owner))
    Domain.objects.update(restricted=hidden)
    assert not reviewed(world, {"docs/a.md": "b\n"}).needs_answer
    review = reviewed(world, {VIEW: "models: [a]\n"}, head="second")
    assert (review.verdict, review.needs_answer) == ("look", True)
    called = f"restricted sync {sync.pk}" if hidden else "orders to ads"
    assert {"unique_id": called, "asset": sync.pk} in review.subjects
    assert ("A secret campaign" in world.comments[1]) is not hidden
    assert review_acknowledging.may_acknowledge(owner, review)


def test_a_restricted_domain_is_followed_and_named_nowhere(world: ReviewWorld) -> None:
    owner = world.people["owner"]
    rules.set_rule(orders(), "The secret merger.", person=owner, actor=mine(owner))
    Domain.objects.update(restricted=True)
    review = reviewed(world, {VIEW: None})
    assert (review.verdict, review.needs_answer) == ("dangerous", True)
    asset = orders()
    assert review.subjects[0] == {"unique_id": f"restricted {asset.kind} {asset.pk}", "asset": asset.pk}
    for told in (world.comments[0], json.dumps(review.document), json.dumps(review.annotations)):
        for secret in ("dev.main", "main.orders", "orders to ads", "The secret merger", "Audiences"):
            assert secret not in told, secret
    assert "mirror sync" in json.dumps(review.document).lower()  # mode and time are never hidden
    assert "02:00 UTC" in world.comments[0]
    assert review_acknowledging.may_acknowledge(world.people["approver"], review)


def test_a_file_may_make_a_sync_itself(world: ReviewWorld) -> None:
    review = reviewed(world, {"activations/ads.yaml": None})
    assert review.verdict == "dangerous"
    assert "orders to ads" in world.comments[0]


def test_a_list_that_github_cuts_is_said(world: ReviewWorld) -> None:
    review = reviewed(world, {f"docs/{number}.md": "x\n" for number in range(3_010)})
    assert review.verdict == "look"
    assert "More files are changed than the code host lists" in world.comments[0]


def test_a_fork_is_reviewed_by_its_list_of_files_and_said_to_be_one(world: ReviewWorld) -> None:
    review = reviewed(world, {VIEW: "models: [b]\n"}, fork="stranger/shop.models")
    assert review.verdict == "look"
    assert "The change comes from a fork." in world.comments[0]


def test_a_connection_that_names_a_dbt_project_waits_for_its_manifest(world: ReviewWorld) -> None:
    world.connection.params = {**world.connection.params, "dbt_project": "shop"}
    world.connection.save()
    row = world.ask(world.github.world.open_pull({VIEW: "models: [b]\n"}))
    assert row.review is None
    assert row.waiting_since is not None


def test_the_approved_plan_of_a_profiles_change_is_linked(world: ReviewWorld) -> None:
    base = world.github.world.git.tip("main")
    after = {PROJECT: "id_types: [email]\nfilters: [shared]\n"}
    where = {"path": str(world.github.world.git.path), "branch": "main", "repository": world.github.world.full_name}
    connections.save(
        "clone", kind="git", purpose="code", namespace="", params=where, secret_names=[], actor=command_line()
    )
    built = builders.house()
    plan = builders.plan(built)
    change = plan.steps.get(position=1)
    change.params = {
        "repository": "clone", "branch": "main", "base": base, "files": [PROJECT],
        "patch": unified_diff({PROJECT: str(START[PROJECT])}, after),
    }  # fmt: skip
    change.save(update_fields=["params"])
    seal_body(plan)
    review = reviewed(world, {**after})
    assert review.document["plans"][0]["verdict"] == "equal"
    assert f"exactly the change of the plan of incident {built.incident.number}" in world.comments[0]
    assert f'<a href="/plans/{plan.pk}">' in page(world.people["owner"], review)


def test_a_plan_is_linked_on_a_dbt_change_too(world: ReviewWorld) -> None:
    world.connection.params = {**world.connection.params, "dbt_project": "shop", "files": []}
    world.connection.save()
    built = builders.house()
    plan = builders.plan(built)
    change, sql = plan.steps.get(position=1), PLAIN + " where not is_test"
    change.params = {
        "repository": "code", "branch": "main", "base": world.base, "files": ["models/orders.sql"],
        "patch": unified_diff({"models/orders.sql": PLAIN}, {"models/orders.sql": sql}),
    }  # fmt: skip
    change.save(update_fields=["params"])
    row = world.ask(world.pull(sql))
    assert row.review is not None
    assert row.review.document["plans"][0]["plan"] == str(plan.pk)
    assert "cannot be read here" in world.comments[0]


def test_a_reader_that_is_declared_meanwhile_makes_another_review(world: ReviewWorld) -> None:
    row = ask(world, {PROJECT: "id_types: [email]\n"})
    declare(
        {"consumers": [{"asset": "orders to mails", "kind": "sync", "tool": "mails", "reads": ["main.orders"]}]},
        actor=command_line(),
    )
    world.again()
    row.refresh_from_db()
    assert Review.objects.count() == 2
    assert row.review is not None
    assert "orders to mails" in row.review.markdown
