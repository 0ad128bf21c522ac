"""Pages of reviews, and the acknowledgement: who may, for what, and what it changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from catalog.models import Asset, Domain, PullRequest, Review, ReviewAcknowledgement, ReviewRule
from catalog.services.reviewing import rules
from foundation import audit, people
from foundation.audit import Actor
from foundation.clock import now
from foundation.errors import Conflict, NotAllowed
from foundation.models import AuditRow, Person
from foundation.people import give_role
from spellbook import erasing, review_acknowledging, reviewing
from tests.github.double import Double
from tests.github.fixtures import github, judge  # noqa: F401
from tests.spellbook.machines import command_line
from tests.spellbook.page_data import HOSTILE
from tests.spellbook.review_world import FILTERED, PLAIN, ReviewWorld, manifest_of, orders, review_world

REASON = "The board is rebuilt on Monday."


@pytest.fixture
def world(committing: str, settings: Settings, tmp_path: Path, github: Double) -> ReviewWorld:  # noqa: F811
    settings.ARTIFACTS_DIR = tmp_path / "artifacts"
    return review_world(github)


def signed_in(person: Person) -> Client:
    found = Client()
    found.force_login(person)
    return found


def page(person: Person, address: str) -> str:
    answer = signed_in(person).get(address)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def acknowledge(person: Person, review: Review, reason: str = REASON, **more: str) -> Any:
    form = {"review": str(review.pk), "digest": review.digest, "reason": reason} | more
    return signed_in(person).post(f"/reviews/{review.pull_request_id}/acknowledge", form)


def reviewed(world: ReviewWorld, **more: Any) -> Review:
    row = world.ask(world.pull(**more))
    assert row.review is not None, row.problem
    return row.review


def test_without_a_code_host_the_list_says_how_to_connect_one(db: None) -> None:
    text = page(people.create_person("a@shop.example", "A"), "/reviews")
    assert "/hooks/github/" in text
    assert "No code host is connected yet" in text


def test_the_list_and_the_page_say_what_matters(world: ReviewWorld) -> None:
    review = reviewed(world, title=HOSTILE)
    listed = page(world.people["stranger"], "/reviews")
    assert "Dangerous" in listed
    assert f"/reviews/{review.pull_request_id}" in listed
    text = page(world.people["stranger"], f"/reviews/{review.pull_request_id}")
    for said in (
        "orders to ads",
        "mode mirror",
        "NOT is_test",
        "night-1",
        "Audiences lose people",
        "Without losing NULLs",
    ):
        assert said in text, said
    for whole in (listed, text):
        assert "<script>alert" not in whole
        assert "\u202e" not in whole
        assert "style=" not in whole
    assert 'name="reason"' not in text


def test_the_list_asks_the_database_as_often_for_many_as_for_one(world: ReviewWorld) -> None:
    def queries() -> int:
        client = signed_in(world.people["owner"])
        with CaptureQueriesContext(connection) as caught:
            assert client.get("/reviews").status_code == 200
        assert not any("document" in one["sql"] and "catalog_review" in one["sql"] for one in caught)
        return len(caught)

    first = reviewed(world)
    few = queries()
    for number in range(2, 8):
        row = PullRequest.objects.create(
            connection=world.connection, number=number, state="open", head_sha=first.head_sha, seen_at=now()
        )
        copy = Review(pull_request=row, **fields_of(first))
        copy.save()
        PullRequest.objects.filter(pk=row.pk).update(review=copy)
    assert queries() == few


def test_a_pull_request_without_a_review_is_not_called_safe(world: ReviewWorld) -> None:
    row = world.ask(world.pull(keep=False))
    text = page(world.people["owner"], f"/reviews/{row.pk}")
    assert "Waiting for the manifest" in text
    assert "not the same as safe" in text
    assert "Waits for its manifest" in page(world.people["owner"], "/reviews")


@pytest.mark.parametrize("who", ["approver", "fallback", "owner", "admin", "member"])
def test_whoever_decides_in_the_domain_acknowledges_with_a_reason(who: str, world: ReviewWorld) -> None:
    review = reviewed(world)
    person = world.people.get(who) or world.people["stranger"]
    if who == "member":
        give_role(person, "member", scope="domain:retail", actor=command_line())
    assert 'name="reason"' in page(person, f"/reviews/{review.pull_request_id}")
    assert acknowledge(person, review).status_code == 302
    made = ReviewAcknowledgement.objects.get()
    assert (made.person, made.reason, made.covers) == (person, REASON, ["model.shop.orders"])
    row = AuditRow.objects.get(action="review.acknowledged")
    assert (row.principal_id, row.refused, row.target_id) == (person.principal_id, False, str(review.pk))
    assert REASON in audit.sentence(row)

    reviewing.sweep(5)
    assert PullRequest.objects.get().problem == ""
    (comment,) = world.comments
    assert "**Acknowledged** by" in comment
    assert "rebuilt on Monday" in comment
    assert [one.values["conclusion"] for one in world.github.world.checks.values()] == ["neutral"]
    assert Review.objects.count() == 1
    text = page(person, f"/reviews/{review.pull_request_id}")
    assert REASON in text
    assert 'name="reason"' not in text


@pytest.mark.parametrize("who", ["stranger", "operator"])
def test_nobody_else_acknowledges_and_the_attempt_is_kept(who: str, world: ReviewWorld) -> None:
    review = reviewed(world)
    assert acknowledge(world.people[who], review).status_code == 403
    assert ReviewAcknowledgement.objects.count() == 0
    assert AuditRow.objects.get(action="review.acknowledged").refused


def test_a_person_of_another_domain_does_not_acknowledge(world: ReviewWorld) -> None:
    other = Domain.objects.create(key="other", name="Other", owner=world.people["stranger"])
    assert other.owner is not None
    assert acknowledge(other.owner, reviewed(world)).status_code == 403


def test_the_author_does_not_acknowledge_their_own_pull_request_where_it_is_known_who_that_is(
    world: ReviewWorld,
) -> None:
    world.connection.params["logins"] = {"Dev": "approver@shop.example"}
    world.connection.save()
    review = reviewed(world, author="dev")
    assert acknowledge(world.people["approver"], review).status_code == 403
    assert "You wrote this pull request" in page(world.people["approver"], f"/reviews/{review.pull_request_id}")
    assert acknowledge(world.people["owner"], review).status_code == 302


def test_a_reason_is_needed_and_the_same_person_says_it_once(world: ReviewWorld) -> None:
    review = reviewed(world)
    assert acknowledge(world.people["owner"], review, " ").status_code == 422
    assert acknowledge(world.people["owner"], review, "x" * 501).status_code == 422
    assert acknowledge(world.people["owner"], review).status_code == 302
    assert acknowledge(world.people["owner"], review).status_code == 409
    assert ReviewAcknowledgement.objects.count() == 1


def test_a_review_of_another_pull_request_is_not_acknowledged_through_this_one(world: ReviewWorld) -> None:
    first, second = reviewed(world), reviewed(world, head="other")
    answer = signed_in(world.people["owner"]).post(
        f"/reviews/{first.pull_request_id}/acknowledge",
        {"review": str(second.pk), "digest": second.digest, "reason": REASON},
    )
    assert answer.status_code == 404
    assert ReviewAcknowledgement.objects.count() == 0


def test_a_form_of_a_superseded_review_is_refused_with_409(world: ReviewWorld) -> None:
    pull = world.pull()
    first = world.ask(pull).review
    assert first is not None
    assert acknowledge(world.people["owner"], first, digest="0" * 64).status_code == 409
    world.github.world.push_to(pull, {"models/orders.sql": FILTERED + " and order_id > 0"})
    world.keep(pull, manifest_of(FILTERED + " and order_id > 0", stamp="second"))
    second = world.ask(pull).review
    assert second not in (None, first)
    assert acknowledge(world.people["owner"], first).status_code == 409
    assert ReviewAcknowledgement.objects.count() == 0
    old = page(world.people["owner"], f"/reviews/{first.pull_request_id}?review={first.pk}")
    assert "This is the review of" in old
    assert 'name="reason"' not in old


def test_a_new_commit_with_the_same_danger_asks_again(world: ReviewWorld) -> None:
    pull = world.pull()
    first = world.ask(pull).review
    assert first is not None
    acknowledge(world.people["owner"], first)
    reviewing.sweep(5)
    world.github.world.push_to(pull, {"readme.md": "x"})
    world.keep(pull, manifest_of(FILTERED, stamp="second"))
    second = world.ask(pull).review
    assert second is not None
    assert second != first
    assert second.digest == first.digest
    assert not review_acknowledging.answered(second)
    newest = max(world.github.world.checks.values(), key=lambda one: one.id)
    assert newest.values["conclusion"] == "failure"
    assert "Acknowledged" not in world.comments[0]


def test_every_domain_with_a_dangerous_change_has_to_answer(world: ReviewWorld) -> None:
    review = reviewed(world)
    finance = Domain.objects.create(key="finance", name="Finance", owner=world.people["stranger"])
    Asset.objects.filter(name="dev.main.revenue").update(domain=finance)
    revenue = Asset.objects.get(name="dev.main.revenue")
    both = [*review.subjects, {"unique_id": "model.shop.revenue", "asset": revenue.pk}]
    copy = Review(pull_request=review.pull_request, **{**fields_of(review), "subjects": both})
    copy.save()
    PullRequest.objects.update(review=copy)
    assert acknowledge(world.people["owner"], copy).status_code == 302
    assert not review_acknowledging.answered(Review.objects.get(pk=copy.pk))
    assert acknowledge(world.people["stranger"], copy).status_code == 302
    assert review_acknowledging.answered(Review.objects.get(pk=copy.pk))


def test_a_danger_of_which_nobody_is_known_to_answer_waits_for_an_admin(world: ReviewWorld) -> None:
    review = reviewed(world)
    bare = Review(pull_request=review.pull_request, **{**fields_of(review), "subjects": []})
    bare.save()
    PullRequest.objects.update(review=bare)
    assert not review_acknowledging.answered(bare)
    assert acknowledge(world.people["owner"], bare).status_code == 403
    assert acknowledge(world.people["admin"], bare).status_code == 302
    assert review_acknowledging.answered(Review.objects.get(pk=bare.pk))


def fields_of(review: Review) -> dict[str, Any]:
    names = [one.attname for one in Review._meta.concrete_fields if one.attname not in ("id", "pull_request_id")]
    return {name: getattr(review, name) for name in names}


def test_nothing_is_acknowledged_when_nothing_asks_for_it_or_all_is_over(world: ReviewWorld) -> None:
    safe = reviewed(world, sql=PLAIN + " -- a word", head="safe")
    assert safe.verdict == "safe"
    assert acknowledge(world.people["owner"], safe).status_code == 409
    review = reviewed(world, head="other")
    PullRequest.objects.filter(pk=review.pull_request_id).update(state="merged")
    assert acknowledge(world.people["owner"], review).status_code == 409


def test_the_form_needs_its_token_and_agents_have_no_way_to_it(world: ReviewWorld) -> None:
    review = reviewed(world)
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(world.people["owner"])
    address = f"/reviews/{review.pull_request_id}/acknowledge"
    form = {"review": str(review.pk), "digest": review.digest, "reason": REASON}
    assert strict.post(address, form).status_code == 403
    agent = people.create_agent("bot", owner=world.people["owner"])
    _, token = people.issue_token(agent, label="bot", scopes=["review:write", "catalog:read"])
    answer = Client().post(address, form, headers={"Authorization": f"Bearer {token}"})
    assert answer["Location"].startswith("/sign-in")
    assert ReviewAcknowledgement.objects.count() == 0


def test_who_is_erased_leaves_the_acknowledgement_and_not_the_words(world: ReviewWorld) -> None:
    review = reviewed(world)
    acknowledge(world.people["approver"], review)
    erasing.erase(world.people["approver"], actor=command_line())
    assert ReviewAcknowledgement.objects.get().reason == erasing.GONE
    assert review_acknowledging.answered(review)


def test_names_of_a_restricted_domain_are_hidden_and_what_they_mean_is_not(world: ReviewWorld) -> None:
    Domain.objects.update(restricted=True)
    review = reviewed(world)
    stranger = page(world.people["stranger"], f"/reviews/{review.pull_request_id}")
    for secret in ("orders to ads", "dev.main.orders", "model.shop.orders", "is_test", "Audiences lose"):
        assert secret not in stranger, secret
    assert "Dangerous" in stranger
    assert "of a restricted domain" in stranger
    assert "mode mirror" in stranger
    assert "reads next" in stranger
    assert "orders to ads" not in world.comments[0]
    give_role(world.people["stranger"], "member", scope="domain:retail", actor=command_line())
    assert "is_test" in page(world.people["stranger"], f"/reviews/{review.pull_request_id}")


def test_a_rule_asks_for_an_acknowledgement_of_a_change_that_is_safe(world: ReviewWorld) -> None:
    owner = world.people["owner"]
    with pytest.raises(NotAllowed):
        rules.set_rule(orders(), "no", person=world.people["stranger"], actor=mine(world.people["stranger"]))
    with pytest.raises(NotAllowed):
        rules.set_rule(orders(), "no", person=owner, actor=command_line())
    rules.set_rule(orders(), "Finance closes its books on it.", person=owner, actor=mine(owner))
    with pytest.raises(Conflict):
        rules.set_rule(orders(), "again", person=owner, actor=mine(owner))
    review = reviewed(world, sql=PLAIN + " -- a word")
    assert review.needs_answer
    assert [one.values["conclusion"] for one in world.github.world.checks.values()] == ["failure"]
    assert "Finance closes its books" in page(owner, f"/reviews/{review.pull_request_id}")
    assert acknowledge(owner, review).status_code == 302
    reviewing.sweep(5)
    assert [one.values["conclusion"] for one in world.github.world.checks.values()] == ["neutral"]
    rules.lift_rule(orders(), "The books are closed.", person=owner, actor=mine(owner))
    with pytest.raises(Conflict):
        rules.lift_rule(orders(), "The books are closed.", person=owner, actor=mine(owner))
    assert ReviewRule.objects.get().lifted_by == owner
    assert AuditRow.objects.filter(action__startswith="review.rule", refused=False).count() == 2


def test_a_rule_is_set_and_lifted_on_the_page_by_a_person_of_the_domain(world: ReviewWorld) -> None:
    asset = orders()
    address, form = f"/assets/{asset.pk}/review-rule", {"rule": "set", "reason": "Finance closes on it."}
    assert "Set the rule" not in page(world.people["stranger"], f"/assets/{asset.pk}/declare")
    assert signed_in(world.people["stranger"]).post(address, form).status_code == 403
    assert signed_in(world.people["owner"]).post(address, form | {"reason": ""}).status_code == 422
    assert signed_in(world.people["owner"]).post(address, form).status_code == 302
    assert "Finance closes on it." in page(world.people["stranger"], f"/assets/{asset.pk}")
    assert "Lift the rule" in page(world.people["owner"], f"/assets/{asset.pk}/declare")
    lift = {"rule": "lift", "reason": "The books are closed.", "seen": str(ReviewRule.objects.get().pk)}
    assert signed_in(world.people["owner"]).post(address, lift).status_code == 302
    assert signed_in(world.people["owner"]).post(address, {"rule": "x"}).status_code == 422
    assert "Finance closes on it." not in page(world.people["stranger"], f"/assets/{asset.pk}")


def mine(person: Person) -> Actor:
    return Actor(person.principal, "web")
