"""Holds: only the asked operator answers, in order, in time; nobody's silence is marked once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from foundation import audit
from foundation.clock import now
from foundation.errors import BadInput, Conflict, NotAllowed, NotFound
from foundation.models import AuditRow, Person
from foundation.people import deactivate
from incidents.models import Hold, Incident
from incidents.services import holds, progress
from tests.incidents import cast
from tests.incidents.cast import conductor


def asked() -> tuple[Hold, Person]:
    operator = cast.person("Ada Operator")
    asset, incident = cast.broken()
    cast.a_sync("copy", asset, operator=operator)
    progress.see_reach(incident.pk, actor=conductor())
    progress.tell(incident.pk, actor=conductor())
    Incident.objects.filter(pk=incident.pk).update(due_at=None)
    return Hold.objects.get(), operator


def late(hold: Hold) -> None:
    """Its last useful minute has gone by; the row itself never changes, so it is made anew as of then."""
    passed = now() - timedelta(seconds=1)
    Hold.objects.create(
        incident=hold.incident, consumer=cast.a_sync("late copy", hold.incident.asset), operator=hold.operator,
        asked_at=passed, needed_by=passed, due_at=passed,
    )  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize("way", ["held released", "acknowledged held released", "acknowledged declined"])
def test_the_operator_answers_step_by_step_and_the_conductor_is_woken(way: str) -> None:
    hold, operator = asked()
    for state in way.split():
        answered = holds.answer(hold.pk, state, "done by hand", person=operator, actor=cast.by(operator))
        assert (answered.state, answered.answer) == (state, "done by hand")
        assert (answered.due_at is not None) == (state == "acknowledged")
    assert Incident.objects.get().due_at is not None
    lines = [audit.sentence(row) for row in audit.timeline(hold.incident_id) if row.action == "hold.answered"]
    assert lines == [f"copy: {state}, done by hand" for state in way.split()]


@pytest.mark.django_db
@pytest.mark.parametrize(("before", "then"), [("declined", "held"), ("held", "declined"), ("held", "held")])
def test_an_answer_that_was_given_is_not_given_again(before: str, then: str) -> None:
    hold, operator = asked()
    holds.answer(hold.pk, before, "", person=operator, actor=cast.by(operator))
    with pytest.raises(Conflict, match=f"This hold is {before} already"):
        holds.answer(hold.pk, then, "", person=operator, actor=cast.by(operator))
    assert AuditRow.objects.filter(action="hold.answered", refused=True, correlation_id=hold.incident_id).count() == 1


@pytest.mark.django_db
def test_what_was_never_held_cannot_be_released() -> None:
    hold, operator = asked()
    with pytest.raises(Conflict):
        holds.answer(hold.pk, "released", "", person=operator, actor=cast.by(operator))


@pytest.mark.django_db
def test_strangers_and_people_who_left_cannot_answer_and_the_attempt_is_kept() -> None:
    hold, operator = asked()
    stranger = cast.person("Sam Stranger")
    with pytest.raises(NotAllowed):
        holds.answer(hold.pk, "held", "", person=stranger, actor=cast.by(stranger))
    deactivate(operator, actor=conductor())
    operator.is_active = True  # a form that was open all the time
    with pytest.raises(NotAllowed):
        holds.answer(hold.pk, "held", "", person=operator, actor=cast.by(operator))
    hold.refresh_from_db()
    assert hold.state == "asked"
    assert AuditRow.objects.filter(action="hold.answered", refused=True).count() == 2


@pytest.mark.django_db
def test_words_that_are_no_answer_and_holds_that_are_none_are_refused() -> None:
    hold, operator = asked()
    with pytest.raises(BadInput, match="not 'too_late'"):
        holds.answer(hold.pk, "too_late", "", person=operator, actor=cast.by(operator))
    with pytest.raises(NotFound):
        holds.answer(hold.pk + 1, "held", "", person=operator, actor=cast.by(operator))


def test_silence_is_marked_once_after_the_last_useful_minute_and_an_answer_comes_too_late(committing: str) -> None:
    hold, operator = asked()
    late(hold)
    assert holds.sweep(10, actor=conductor()) == 1
    assert holds.sweep(10, actor=conductor()) == 0
    missed = Hold.objects.get(consumer__name="late copy")
    assert (missed.state, missed.due_at, missed.lease_until) == ("too_late", None, None)
    hold.refresh_from_db()
    assert hold.state == "asked"
    with pytest.raises(Conflict, match="too late already"):
        holds.answer(missed.pk, "held", "", person=operator, actor=cast.by(operator))
    assert AuditRow.objects.filter(action="hold.too_late", correlation_id=hold.incident_id).count() == 1
    assert Incident.objects.get().due_at is not None


def test_a_hold_that_was_answered_in_time_is_not_marked(committing: str) -> None:
    hold, operator = asked()
    holds.answer(hold.pk, "held", "", person=operator, actor=cast.by(operator))
    Hold.objects.filter(pk=hold.pk).update(due_at=now() - timedelta(seconds=1))
    assert holds.sweep(10, actor=conductor()) == 0


@pytest.mark.django_db
def test_when_the_incident_closes_nobody_is_late_any_more() -> None:
    hold, _ = asked()
    assert hold.due_at is not None
    cast.end(hold.incident, "false_alarm")
    rested = Hold.objects.get(pk=hold.pk)
    assert (rested.state, rested.due_at) == ("asked", None)
