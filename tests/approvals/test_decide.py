from __future__ import annotations

from datetime import timedelta
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import pytest
from django.db import connection

from approvals.models import Outcome, Plan, Request, Step, Vote
from approvals.services.ask import supersede
from approvals.services.decide import decide
from approvals.services.stop import set_stop
from catalog.models import Asset, Consumer, Declaration, EdgeClaim, GraphHead, GraphVersion, Source
from foundation.audit import Actor, sentence
from foundation.clock import now
from foundation.errors import BadInput, Conflict, Gone, NotAllowed, NotFound
from foundation.models import AuditRow, Person
from foundation.people import create_agent, deactivate
from incidents.models import Incident
from tests.approvals.builders import (
    House,
    as_actor,
    asked,
    asked_ago,
    conductor,
    house,
    past_its_deadline,
    plan,
    post,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def built() -> House:
    return house()


@pytest.fixture
def request_(built: House) -> Request:
    return asked(built)


def unchanged(request: Request) -> bool:
    """Nothing but a refused audit row came of it."""
    request.refresh_from_db()
    steps = set(Step.objects.filter(plan=request.plan).values_list("state", flat=True))
    rows = AuditRow.objects.filter(action="request.refused")
    return (
        request.state == "pending"
        and not Vote.objects.exists()
        and not Outcome.objects.exists()
        and Plan.objects.get(pk=request.plan_id).state == "asking"
        and steps == {"proposed"}
        and all(row.refused for row in rows)
        and rows.count() >= 1
    )


def test_the_approver_approves_and_everything_moves_together(built: House, request_: Request) -> None:
    Incident.objects.update(due_at=None)
    outcome = post(request_, built.approver)
    assert isinstance(outcome, Outcome)
    assert (outcome.decision, outcome.steps) == ("approve", [1, 2, 3])
    request_.refresh_from_db()
    assert (request_.state, request_.version, request_.due_at) == ("approved", 2, None)
    assert Plan.objects.get(pk=request_.plan_id).state == "acting"
    assert {step.state for step in request_.plan.steps.all()} == {"waiting"}
    change = request_.plan.steps.get(position=1)
    assert change.due_at is not None  # somebody has to look for the owner's merge
    assert Incident.objects.get().due_at is not None
    row = AuditRow.objects.get(action="request.approved")
    assert row.correlation_id == built.incident.pk
    assert sentence(row) == "approved steps 1, 2, 3 of Keep the rows: looks right"


def test_a_rejection_ends_request_and_plan(built: House, request_: Request) -> None:
    outcome = post(request_, built.approver, "reject", reason="wrong filter")
    assert isinstance(outcome, Outcome)
    assert (outcome.decision, outcome.steps) == ("reject", [])
    row = Plan.objects.get(pk=request_.plan_id)
    assert (row.state, row.end_reason) == ("rejected", "rejected; the reason stands with the vote")
    assert request_.votes.get().reason == "wrong filter"
    assert {step.state for step in row.steps.all()} == {"not_approved"}


def test_a_rejection_without_a_reason_is_refused(built: House, request_: Request) -> None:
    with pytest.raises(BadInput, match="needs a reason"):
        post(request_, built.approver, "reject", reason="  ")
    assert unchanged(request_)


def test_a_third_word_is_no_decision(built: House, request_: Request) -> None:
    with pytest.raises(BadInput, match="either approve or reject"):
        post(request_, built.approver, "maybe")
    assert unchanged(request_)


@pytest.mark.parametrize("who", ["stranger", "owner", "second"])
def test_whoever_is_not_named_is_refused(built: House, request_: Request, who: str) -> None:
    with pytest.raises(NotAllowed, match="not yours"):
        post(request_, getattr(built, who))
    assert unchanged(request_)


def test_the_fallback_waits_for_their_turn(built: House, request_: Request) -> None:
    with pytest.raises(NotAllowed, match=r"not your turn before .* with Approver"):
        post(request_, built.fallback)
    assert unchanged(request_)


def test_after_half_of_the_time_the_fallback_decides_and_the_approver_no_longer(built: House) -> None:
    request = asked_ago(built, timedelta(hours=3))
    with pytest.raises(Gone, match=r"Your turn expired at .* now with Fallback"):
        post(request, built.approver)
    assert isinstance(post(request, built.fallback), Outcome)


def test_an_agent_never_decides_even_in_a_persons_name(built: House, request_: Request) -> None:
    agent = create_agent("helper", owner=built.approver)
    with pytest.raises(NotAllowed, match="Only a signed-in person"):
        post(request_, built.approver, actor=Actor(agent, "api"))
    assert unchanged(request_)


def test_a_system_principal_never_decides(built: House, request_: Request) -> None:
    with pytest.raises(NotAllowed, match="Only a signed-in person"):
        post(request_, built.approver, actor=conductor())
    assert unchanged(request_)


def test_nobody_decides_in_the_name_of_somebody_else(built: House, request_: Request) -> None:
    with pytest.raises(NotAllowed, match="in their own name"):
        post(request_, built.approver, actor=as_actor(built.fallback))
    assert unchanged(request_)


def test_a_deactivated_approver_is_refused_from_that_commit_and_the_fallback_takes_over(
    built: House, request_: Request
) -> None:
    deactivate(built.approver, actor=as_actor(built.second))
    with pytest.raises(NotAllowed, match="deactivated"):
        post(request_, built.approver)
    assert unchanged(request_)
    assert isinstance(post(request_, built.fallback), Outcome)


def test_the_author_of_the_plan_never_decides_on_it(built: House) -> None:
    request = asked(built, author=built.approver.principal)
    with pytest.raises(NotAllowed, match="wrote the plan"):
        post(request, built.approver)
    assert unchanged(request)


def test_the_owner_of_the_agent_that_wrote_the_plan_never_decides_on_it(built: House) -> None:
    request = asked(built, author=create_agent("helper", owner=built.approver))
    with pytest.raises(NotAllowed, match="owns the agent"):
        post(request, built.approver)
    assert unchanged(request)


@pytest.mark.parametrize("field", ["plan_digest", "shown_digest"])
def test_a_form_of_another_revision_is_refused(built: House, request_: Request, field: str) -> None:
    with pytest.raises(Conflict, match="open the request again"):
        post(request_, built.approver, **{field: "0" * 64})
    assert unchanged(request_)


def test_a_plan_whose_rows_changed_after_it_was_asked_is_refused(built: House, request_: Request) -> None:
    Step.objects.filter(plan=request_.plan, position=2).update(params={"select": ["everything"], "after": [1]})
    with pytest.raises(Conflict, match="not the one that this form showed"):
        post(request_, built.approver)
    assert unchanged(request_)


def test_a_superseded_request_names_the_newer_revision(built: House, request_: Request) -> None:
    supersede(request_.plan_id, "drafted again", actor=conductor())
    plan(built, revision=2)
    with pytest.raises(Conflict, match="Superseded by revision 2"):
        post(request_, built.approver)


def test_after_the_deadline_an_approval_is_refused_although_no_sweep_has_run(built: House, request_: Request) -> None:
    past_its_deadline(request_)
    with pytest.raises(Gone, match=r"Expired at .* nothing was approved"):
        post(request_, built.approver)
    assert unchanged(request_)


def test_after_the_deadline_everybody_is_told_that_it_is_over(built: House, request_: Request) -> None:
    past_its_deadline(request_)
    for who in (built.fallback, built.stranger):
        with pytest.raises(Gone, match="Expired"):
            post(request_, who)


def test_a_deadline_that_passes_within_the_decision_is_kept_by_the_database(built: House, request_: Request) -> None:
    past_its_deadline(request_)
    early = now() - timedelta(minutes=5)  # what a slow decision read before the deadline
    with patch("approvals.services.decide.now", return_value=early):
        with pytest.raises(Gone, match="Expired"):  # by the trigger on votes
            post(request_, built.approver)
        if connection.vendor == "sqlite":  # on PostgreSQL the app may not take a trigger away
            with connection.cursor() as cursor:
                cursor.execute("DROP TRIGGER sb_approvals_vote_in_time_insert")
            with pytest.raises(Gone, match="Expired"):  # by the statement that ends the request
                post(request_, built.approver)
    assert unchanged(request_)


def test_a_second_decision_is_told_who_was_first(built: House, request_: Request) -> None:
    post(request_, built.approver)
    with pytest.raises(Conflict, match=r"Already approved by Approver at \d{4}-"):
        post(request_, built.approver, "reject")
    assert Vote.objects.count() == Outcome.objects.count() == 1


def test_a_replay_returns_the_first_result_and_changes_nothing(built: House, request_: Request) -> None:
    first = post(request_, built.approver, idempotency_key="form-1")
    before = (AuditRow.objects.count(), Request.objects.get().version)
    assert post(request_, built.approver, idempotency_key="form-1") == first
    past_its_deadline(request_)
    assert post(request_, built.approver, idempotency_key="form-1") == first
    assert (AuditRow.objects.count(), Request.objects.get().version) == before


def test_a_key_that_was_used_for_another_decision_is_refused(built: House, request_: Request) -> None:
    post(request_, built.approver, idempotency_key="form-1")
    with pytest.raises(Conflict, match="sent before"):
        post(request_, built.approver, "reject", idempotency_key="form-1")


@pytest.mark.parametrize("key", ["", "k" * 101])
def test_a_decision_needs_a_key(built: House, request_: Request, key: str) -> None:
    with pytest.raises(BadInput, match="idempotency key"):
        post(request_, built.approver, idempotency_key=key)


def test_a_partial_approval_names_its_steps_and_leaves_the_others(built: House, request_: Request) -> None:
    outcome = post(request_, built.approver, steps=[1])
    assert outcome.steps == [1]
    states = dict(Step.objects.filter(plan=request_.plan).values_list("position", "state"))
    assert states == {1: "waiting", 2: "not_approved", 3: "not_approved"}


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([], "names at least one step"),
        ([1, 9], "no step 9"),
        ([2], "Step 2 depends on step 1, which is not approved"),
        ([2, 3], "Step 2 depends on step 1"),
    ],
)
def test_steps_that_cannot_be_approved_so_are_refused(
    built: House, request_: Request, steps: list[int], said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        post(request_, built.approver, steps=steps)
    assert unchanged(request_)


def test_a_reader_that_was_not_shown_stops_the_decision(built: House, request_: Request) -> None:
    newcomer = Asset.objects.create(namespace="bi://board", name="A new board", kind="dashboard")
    with pytest.raises(Conflict, match="A new board"):
        post(request_, built.approver, reach_now=[built.reader.pk, newcomer.pk])
    assert unchanged(request_)
    assert isinstance(post(request_, built.approver, reach_now=[]), Outcome)  # one that left is no reason


def test_the_reach_may_be_given_as_its_digest(built: House, request_: Request) -> None:
    with pytest.raises(Conflict, match="reach has changed"):
        post(request_, built.approver, reach_now="0" * 64)
    assert isinstance(post(request_, built.approver, reach_now=built.incident.reach_digest), Outcome)


def new_reader(built: House, **values: Any) -> None:
    """A reader that joins the graph after the request was made."""
    newcomer = Asset.objects.create(namespace="bi://board", name="A new board", kind="dashboard")
    Consumer.objects.create(asset=newcomer, **values)
    claim = EdgeClaim.objects.select_related("source").get(from_asset=built.asset)
    head = GraphHead.objects.get()
    version = GraphVersion.objects.create(number=head.version + 1, at=now(), source=claim.source)
    GraphHead.objects.update(version=version.number)
    EdgeClaim.objects.create(source=claim.source, from_asset=built.asset, to_asset=newcomer, added_in=version)


def test_without_it_the_reach_is_drawn_from_the_graph(built: House, request_: Request) -> None:
    new_reader(built)
    with pytest.raises(Conflict, match="A new board"):
        post(request_, built.approver, reach_now=None)


def test_a_reader_that_an_agent_suggests_stops_no_decision(built: House, request_: Request) -> None:
    new_reader(built, status="suggested")
    assert isinstance(post(request_, built.approver, reach_now=None), Outcome)


def test_a_reader_that_stands_stops_a_decision_whatever_an_agent_adds_to_it(built: House, request_: Request) -> None:
    new_reader(built, status="suggested")
    people, board = Source.objects.get_or_create(key="declared", defaults={"kind": "declared"})[0], "A new board"
    said = {"source": people, "author": built.approver.principal, "at": now(), "said": {"reader": True}}
    Declaration.objects.create(asset=Asset.objects.get(name=board), **said)
    with pytest.raises(Conflict, match=board):
        post(request_, built.approver, reach_now=None)


def test_the_readers_that_were_shown_are_those_of_the_graph(built: House, request_: Request) -> None:
    assert isinstance(post(request_, built.approver, reach_now=None), Outcome)


def test_under_the_stop_nothing_that_dispatches_is_decided(built: House, request_: Request) -> None:
    set_stop("the warehouse is being moved", person=built.stranger)
    with pytest.raises(Conflict, match="Frozen by the stop"):
        post(request_, built.approver)
    assert unchanged(request_)


def test_two_people_are_needed_where_the_policy_says_so() -> None:
    built = house(required=2)
    request = asked(built)
    vote = post(request, built.approver, steps=[1, 2])
    assert isinstance(vote, Vote)
    request.refresh_from_db()
    assert (request.state, request.version) == ("pending", 2)
    with pytest.raises(Conflict, match="a vote is final"):
        post(request, built.approver)
    outcome = post(request, built.fallback, steps=[1, 3])
    assert isinstance(outcome, Outcome)
    assert outcome.steps == [1]


def test_one_rejection_ends_a_request_that_needs_two() -> None:
    built = house(required=2)
    request = asked(built)
    post(request, built.approver)
    assert post(request, built.fallback, "reject").decision == "reject"


def test_votes_with_no_step_in_common_do_not_become_an_outcome() -> None:
    built = house(required=2)
    request = asked(built)
    post(request, built.approver, steps=[1])
    with pytest.raises(Conflict, match="No step would be approved by everybody"):
        post(request, built.fallback, steps=[3])
    assert not Outcome.objects.exists()


def test_a_request_that_does_not_exist_is_an_error_in_words(built: House) -> None:
    with pytest.raises(NotFound, match="no such request"):
        decide(uuid4(), **form(built.approver))


def form(person: Person) -> dict[str, Any]:
    return {
        "person": person, "decision": "approve", "steps": None, "reason": "", "plan_digest": "", "shown_digest": "",
        "idempotency_key": "k", "actor": as_actor(person),
    }  # fmt: skip
