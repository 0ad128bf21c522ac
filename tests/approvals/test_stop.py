from __future__ import annotations

import json
from datetime import timedelta

import pytest

from approvals.models import Outcome, Plan, Receipt, Request, Run, Stop
from approvals.services.stop import lift_stop, set_stop, stop_row_for_claim
from foundation.audit import Actor
from foundation.clock import now
from foundation.errors import BadInput, Conflict, NotAllowed
from foundation.locks import transaction
from foundation.models import AuditRow
from foundation.people import create_agent
from tests.approvals.builders import House, approved, asked, conductor, house, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def built() -> House:
    return house()


def since(ago: timedelta) -> None:
    """The stop was set some time ago."""
    Stop.objects.filter(pk=1).update(changed_at=now() - ago)


def test_any_member_sets_the_stop_and_a_receipt_says_so(built: House) -> None:
    stop = set_stop("the warehouse is being moved", person=built.stranger)
    assert stop.active
    assert stop.changed_by == built.stranger
    statement = json.loads(bytes(Receipt.objects.get(type="stop").statement))
    assert statement["predicate"]["active"] is True
    assert statement["predicate"]["principal"] == str(built.stranger.principal_id)
    assert "warehouse" not in json.dumps(statement)


def test_the_stop_is_set_with_a_reason_and_once(built: House) -> None:
    with pytest.raises(BadInput, match="reason"):
        set_stop(" ", person=built.stranger)
    set_stop("moving", person=built.stranger)
    with pytest.raises(Conflict, match="set already"):
        set_stop("moving", person=built.stranger)
    assert AuditRow.objects.filter(action="stop.refused", refused=True).count() == 2


def test_agents_neither_set_nor_lift_it(built: House) -> None:
    agent = Actor(create_agent("helper", owner=built.second), "mcp")
    for actor in (agent, conductor()):
        with pytest.raises(NotAllowed, match="signed-in person"):
            set_stop("moving", person=built.second, actor=actor)
    set_stop("moving", person=built.second)
    for actor in (agent, conductor()):
        with pytest.raises(NotAllowed, match="signed-in person"):
            lift_stop(person=built.second, actor=actor)
    assert Stop.objects.get().active


def test_only_an_admin_lifts_it(built: House) -> None:
    with pytest.raises(Conflict, match="No stop is set"):
        lift_stop(person=built.second)
    set_stop("moving", person=built.stranger)
    with pytest.raises(NotAllowed, match="role admin"):
        lift_stop(person=built.stranger)
    assert not lift_stop(person=built.second).active
    assert Receipt.objects.filter(type="stop").count() == 2


def test_lifting_moves_the_deadlines_that_lay_after_the_stop_by_its_length(built: House) -> None:
    request = asked(built)
    Request.objects.filter(pk=request.pk).update(due_at=None)
    set_stop("moving", person=built.stranger)
    since(timedelta(minutes=10))
    Request.objects.filter(pk=request.pk).update(expires_at=request.expires_at - timedelta(minutes=20))
    lift_stop(person=built.second)
    moved = Request.objects.get(pk=request.pk)
    # it was asked after the (back-dated) stop began, so only the time since then was taken from it
    assert timedelta(0) < moved.expires_at - (request.expires_at - timedelta(minutes=20)) < timedelta(minutes=1)
    assert moved.due_at is not None


def test_a_deadline_before_the_stop_is_not_moved(built: House) -> None:
    request = asked(built)
    Request.objects.filter(pk=request.pk).update(expires_at=now() - timedelta(hours=2))
    set_stop("moving", person=built.stranger)
    since(timedelta(hours=1))
    lift_stop(person=built.second)
    assert Request.objects.get(pk=request.pk).frozen_seconds == 0


def test_a_request_whose_damage_time_passed_meanwhile_is_superseded() -> None:
    built = house(next_read=timedelta(minutes=1, milliseconds=1))  # the last useful minute is over at once
    request = asked(built)
    set_stop("moving", person=built.stranger)
    since(timedelta(minutes=5))
    lift_stop(person=built.second)
    assert Request.objects.get(pk=request.pk).state == "superseded"
    assert Plan.objects.get(pk=request.plan_id).end_reason == "its damage time passed while the stop was set"


def test_after_the_stop_a_decision_is_possible_again(built: House) -> None:
    request = asked(built)
    set_stop("moving", person=built.stranger)
    lift_stop(person=built.second)
    assert isinstance(post(request, built.approver), Outcome)


def test_runs_in_flight_become_due_so_that_somebody_ends_them(built: House) -> None:
    drafted = approved(built)
    step = drafted.steps.get(position=2)
    Run.objects.create(step=step, outcome=Outcome.objects.get(), idempotency_key="k", runner="dbt", claimed_at=now())
    set_stop("moving", person=built.stranger)
    assert Run.objects.get().due_at is not None
    row = AuditRow.objects.get(action="stop.set")
    assert row.detail.body["facts"]["in_flight"] == 1


def test_a_claim_reads_the_stop_inside_its_transaction(built: House) -> None:
    with transaction():
        assert not stop_row_for_claim().active
    set_stop("moving", person=built.stranger)
    with transaction():
        assert stop_row_for_claim().active


def test_lifting_makes_due_what_had_expired_before_the_stop_and_no_sweep_had_seen(built: House) -> None:
    request = asked(built)
    Request.objects.filter(pk=request.pk).update(expires_at=now() - timedelta(hours=2), due_at=None)
    set_stop("moving", person=built.stranger)
    since(timedelta(hours=1))
    lift_stop(person=built.second)
    left = Request.objects.get(pk=request.pk)
    assert left.due_at is not None, "else it would be pending for good"
    assert left.frozen_seconds == 0
