from __future__ import annotations

from datetime import timedelta

import pytest

from approvals import chain
from approvals.models import Outcome, Plan, Request, Turn
from approvals.selectors import deciders, open_requests_for
from approvals.services.escalate import sweep
from approvals.services.stop import set_stop, stop_row_for_claim
from foundation.audit import sentence
from foundation.clock import now
from foundation.models import AuditRow, Person
from foundation.people import deactivate, reactivate
from incidents.models import Incident
from tests.approvals.builders import House, as_actor, asked, asked_ago, house, past_its_deadline

# The sweep commits its claims, so each of these tests has a database of its own.
pytestmark = pytest.mark.usefixtures("committing")


@pytest.fixture
def built(committing: str) -> House:
    return house()


def due_now(request: Request) -> None:
    Request.objects.filter(pk=request.pk).update(due_at=now())


def test_nothing_happens_before_anything_is_due(built: House) -> None:
    asked(built)
    assert sweep() == 0
    assert Turn.objects.count() == 1


def test_at_half_of_the_time_the_fallback_gets_the_turn_and_one_notice(built: House) -> None:
    request = asked_ago(built, timedelta(hours=3))
    assert deciders(request) == [built.fallback.pk]  # by the clock, whether or not a sweep has run
    assert sweep() == 1
    due_now(request)
    assert sweep() == 0
    assert [turn.person for turn in request.turns.all()] == [built.approver, built.fallback]
    assert AuditRow.objects.filter(action="request.turn").count() == 2
    request.refresh_from_db()
    assert request.due_at == request.expires_at
    assert [row.pk for row in open_requests_for(built.fallback)] == [request.pk]
    assert open_requests_for(built.approver) == []


def test_a_request_that_nobody_decided_expires_and_nothing_is_approved(built: House) -> None:
    request = asked(built)
    past_its_deadline(request)
    due_now(request)
    Incident.objects.update(due_at=None)
    assert sweep() == 1
    request.refresh_from_db()
    assert (request.state, request.due_at) == ("expired", None)
    assert Plan.objects.get(pk=request.plan_id).state == "expired"
    assert not Outcome.objects.exists()
    assert Incident.objects.get().due_at is not None
    row = AuditRow.objects.get(action="request.expired")
    assert "nothing was approved; kept here, no channel configured" in sentence(row)
    assert sweep() == 0


def test_deactivating_the_approver_makes_the_request_due_and_the_sweep_asks_the_fallback(built: House) -> None:
    request = asked(built)
    deactivate(built.approver, actor=as_actor(built.second))
    request.refresh_from_db()
    assert request.due_at is not None
    assert request.due_at <= now()
    assert sweep() == 1
    assert [turn.person for turn in request.turns.all()] == [built.approver, built.fallback]


def test_a_person_of_no_open_request_wakes_nothing(built: House) -> None:
    request = asked(built)
    deactivate(built.stranger, actor=as_actor(built.second))
    before = request.due_at
    request.refresh_from_db()
    assert request.due_at == before


def test_when_nobody_is_left_one_alarm_is_open(built: House) -> None:
    request = asked(built)
    for person in (built.approver, built.fallback):
        deactivate(person, actor=as_actor(built.second))
        sweep()
    due_now(request)
    sweep()
    row = AuditRow.objects.get(action="request.nobody")
    assert "is deactivated and" in sentence(row)
    assert deciders(request) == []


def test_a_person_who_comes_back_decides_again(built: House) -> None:
    request = asked(built)
    deactivate(built.approver, actor=as_actor(built.second))
    sweep()
    reactivate(built.approver, actor=as_actor(built.second))
    assert deciders(request) == [built.approver.pk]


def test_under_the_stop_neither_turns_nor_the_end_come(built: House) -> None:
    request = asked(built)
    past_its_deadline(request)
    due_now(request)
    set_stop("moving house", person=built.stranger)
    assert sweep() == 0
    request.refresh_from_db()
    assert (request.state, request.due_at) == ("pending", None)


def test_outside_of_a_transaction_a_claim_of_the_stop_is_a_mistake(built: House) -> None:
    with pytest.raises(RuntimeError, match="under lock"):
        stop_row_for_claim()


def test_a_request_that_cannot_be_looked_at_does_not_hold_up_the_others(
    built: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, other = asked(built), asked(house())
    for request in (broken, other):
        past_its_deadline(request)
        due_now(request)
    real = chain.people_of

    def people_of(request: Request) -> dict[int, Person]:
        if request.pk == broken.pk:
            raise KeyError("a link that nobody wrote")
        return real(request)

    monkeypatch.setattr(chain, "people_of", people_of)
    assert sweep() == 1
    assert Request.objects.get(pk=other.pk).state == "expired"
