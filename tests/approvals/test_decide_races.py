"""Decisions that arrive at the same moment: exactly one winner, and the losers are told who it was."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection, transaction

from approvals.models import Outcome, Plan, Request, Vote
from approvals.services.ask import ask, supersede
from approvals.services.escalate import sweep
from approvals.services.stop import lift_stop, set_stop
from foundation.clock import now
from foundation.errors import Conflict, Gone, NotAllowed, SpellbookError
from foundation.models import AuditRow, Person
from foundation.people import deactivate, reactivate
from incidents.models import Incident
from tests.approvals.builders import House, as_actor, asked, conductor, house, plan, post

ROUNDS = int(os.environ.get("SPELLBOOK_TEST_ROUNDS", "60"))

Deed = Callable[[], object]


@pytest.fixture
def built(committing: str) -> House:
    return house()


def race(*deeds: Deed) -> list[object]:
    """Do all deeds at the same moment, each on a connection of its own; results and typed refusals in their order."""
    barrier = threading.Barrier(len(deeds))
    results: list[object] = [None] * len(deeds)

    def run(position: int, deed: Deed) -> None:
        barrier.wait()
        try:
            results[position] = deed()
        except SpellbookError as error:
            results[position] = error
        except Exception as error:  # a test that lost its thread must say why
            results[position] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(deeds)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def fresh(built: House, number: int) -> Request:
    """The next request of the house; the plan before it has ended."""
    Plan.objects.filter(state__in=("asking", "acting", "draft")).update(state="superseded")
    Request.objects.filter(state="pending").update(state="superseded", ended_at=now())
    return asked(built, revision=number + 1)


def consistent(request: Request) -> str:
    """The state in which a request ended, after checking that everything agrees with it."""
    request.refresh_from_db()
    state = request.state
    outcomes = list(Outcome.objects.filter(request=request))
    expected = {"approved": ("acting", "approve"), "rejected": ("rejected", "reject")}
    plan_state = Plan.objects.get(pk=request.plan_id).state
    if state in expected:
        assert (plan_state, outcomes[0].decision) == expected[state]
        assert len(outcomes) == Vote.objects.filter(request=request).count() == 1
    else:
        assert outcomes == []
        assert plan_state == {"pending": "asking"}.get(state, state)
    return state


def winners(results: list[object]) -> int:
    strangers = [one for one in results if isinstance(one, Exception) and not isinstance(one, SpellbookError)]
    assert strangers == []
    return sum(isinstance(one, Outcome) for one in results)


def test_approve_twice_gives_one_outcome(built: House) -> None:
    for number in range(ROUNDS):
        request = fresh(built, number)
        results = race(lambda r=request: post(r, built.approver), lambda r=request: post(r, built.approver))  # type: ignore[misc]
        assert winners(results) == 1
        assert [type(one) for one in results if isinstance(one, SpellbookError)] == [Conflict]
        assert consistent(request) == "approved"
    assert AuditRow.objects.filter(action="request.approved").count() == ROUNDS
    assert AuditRow.objects.filter(action="request.refused", refused=True).count() == ROUNDS


def test_approve_and_reject_give_one_outcome(built: House) -> None:
    ends = set()
    for number in range(ROUNDS):
        request = fresh(built, number)
        results = race(
            lambda r=request: post(r, built.approver),  # type: ignore[misc]
            lambda r=request: post(r, built.approver, "reject"),  # type: ignore[misc]
        )
        assert winners(results) == 1
        ends.add(consistent(request))
    assert ends <= {"approved", "rejected"}


def test_the_same_form_sent_twice_is_one_decision_and_both_are_told_of_it(built: House) -> None:
    for number in range(ROUNDS // 3 or 1):
        request = fresh(built, number)
        send = lambda r=request, n=number: post(r, built.approver, idempotency_key=f"form-{n}")  # noqa: E731
        first, second = race(send, send)
        assert isinstance(first, Outcome)
        assert first == second
        assert consistent(request) == "approved"


def test_two_people_of_whom_both_are_needed_vote_at_once(built: House) -> None:
    built.policy.required = 2
    built.policy.save()
    for number in range(ROUNDS // 3 or 1):
        request = fresh(built, number)
        results = race(
            lambda r=request: post(r, built.approver),  # type: ignore[misc]
            lambda r=request: post(r, built.fallback),  # type: ignore[misc]
        )
        assert winners(results) == 1
        assert Outcome.objects.filter(request=request).count() == 1
        assert Vote.objects.filter(request=request).count() == 2


def test_approve_against_supersede(built: House) -> None:
    for number in range(ROUNDS // 3 or 1):
        request = fresh(built, number)
        results = race(
            lambda r=request: post(r, built.approver),  # type: ignore[misc]
            lambda r=request: supersede(r.plan_id, "a newer build", actor=conductor()),  # type: ignore[misc]
        )
        state = consistent(request)
        assert state in ("approved", "superseded")
        assert winners(results) == (state == "approved")


def test_approve_against_expiry(built: House) -> None:
    for number in range(ROUNDS // 3 or 1):
        request = fresh(built, number)
        Request.objects.filter(pk=request.pk).update(
            expires_at=now() + timedelta(milliseconds=15), due_at=now() - timedelta(seconds=1)
        )
        results = race(lambda r=request: post(r, built.approver), sweep, sweep)  # type: ignore[misc]
        assert winners(results) == (consistent(request) == "approved")


def test_approve_against_the_stop(built: House) -> None:
    for number in range(ROUNDS // 3 or 1):
        request = fresh(built, number)
        results = race(
            lambda r=request: post(r, built.approver),  # type: ignore[misc]
            lambda: set_stop("moving", person=built.stranger),
        )
        state = consistent(request)
        assert state in ("approved", "pending")
        assert winners(results) == (state == "approved")
        lift_stop(person=built.second)


def test_approve_against_deactivation(built: House) -> None:
    for number in range(ROUNDS // 3 or 1):
        request = fresh(built, number)
        results = race(
            lambda r=request: post(r, built.approver),  # type: ignore[misc]
            lambda: deactivate(Person.objects.get(pk=built.approver.pk), actor=as_actor(built.second)),
        )
        assert winners(results) == (consistent(request) == "approved")
        assert not isinstance(results[1], Exception)
        refusal = [one for one in results if isinstance(one, SpellbookError)]
        assert all(isinstance(one, NotAllowed) for one in refusal)
        reactivate(Person.objects.get(pk=built.approver.pk), actor=as_actor(built.second))


def test_an_approval_that_waited_for_the_lock_past_the_deadline_is_refused(built: House) -> None:
    request = asked(built)
    Request.objects.filter(pk=request.pk).update(expires_at=now() + timedelta(milliseconds=300))
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            Request.objects.select_for_update().get(pk=request.pk)  # on SQLite the transaction itself is the lock
            held.set()
            done.wait(0.6)
        connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    with pytest.raises(Gone, match="Expired"):
        post(request, built.approver)
    holder.join()
    assert consistent(request) == "pending"


def test_two_asks_at_once_make_one_request(built: House) -> None:
    for number in range(ROUNDS // 3 or 1):
        Plan.objects.exclude(state="superseded").update(state="superseded")
        Request.objects.filter(state="pending").update(state="superseded", ended_at=now())
        drafted = plan(built, revision=number + 1)
        put = lambda pk=drafted.pk: ask(pk, actor=conductor())  # noqa: E731
        first, second = race(put, put)
        assert isinstance(first, Request)
        assert first == second
    assert Incident.objects.count() == 1
