from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils.dateparse import parse_datetime

from approvals import shown
from approvals.models import Plan, Request, Step
from approvals.services import ask as asking
from approvals.services.ask import Nobody, ask, supersede
from catalog.models import AssetRole
from foundation import locks
from foundation.audit import timeline
from foundation.clock import now
from foundation.errors import Conflict, NotAllowed
from foundation.models import AuditRow
from foundation.people import create_agent, deactivate
from incidents.models import Damage
from tests.approvals.builders import House, as_actor, asked, conductor, house, plan

pytestmark = pytest.mark.django_db


@pytest.fixture
def built() -> House:
    return house()


def test_asking_freezes_what_is_shown_and_gives_the_approver_the_first_turn(built: House) -> None:
    request = asked(built)
    document = shown.read(request)
    assert request.state == "pending"
    assert [link["person"] for link in request.chain] == [built.approver.pk, built.fallback.pk]
    assert document["plan"]["digest"] == request.plan_digest == request.plan.plan_digest
    assert document["reach"]["digest"] == built.incident.reach_digest
    assert document["evidence"][0]["speaks"] == "for"
    assert document["cause"]["statement"] == "A filter drops rows."
    assert document["rehearsal"]["state"] == "rehearsed"
    assert [turn.person for turn in request.turns.all()] == [built.approver]
    assert Plan.objects.get(pk=request.plan_id).state == "asking"


def test_operators_and_business_owners_of_what_is_reached_are_copied(built: House) -> None:
    AssetRole.objects.create(asset=built.reader, person=built.second, role="business_owner")
    AssetRole.objects.create(asset=built.reader, person=built.second, role="on_call")
    copied = shown.read(asked(built))["copied"]
    assert {(one["principal"], one["role"]) for one in copied} == {
        (str(built.stranger.principal_id), "operator"),
        (str(built.second.principal_id), "business_owner"),
    }


def test_no_name_of_a_person_stands_in_what_is_frozen(built: House) -> None:
    request = asked(built)
    frozen = bytes(request.shown).decode() + str(request.chain)
    for person in (built.approver, built.fallback, built.owner):
        assert person.email not in frozen
        assert person.principal.name_row.name not in frozen


def test_while_damage_is_pending_the_deadline_is_the_last_useful_minute_minus_the_run(built: House) -> None:
    request = asked(built, expected_seconds=300)
    reads_at = parse_datetime(built.incident.reach["consumers"][0]["next_read"])  # type: ignore[index]
    assert reads_at is not None
    assert abs(request.expires_at - (reads_at - timedelta(seconds=360))) < timedelta(milliseconds=2)
    assert "too late" in request.deadline_reason


def test_the_policys_minimum_wins_over_a_reader_that_reads_too_soon_and_says_so() -> None:
    built = house(next_read=timedelta(minutes=5))
    request = asked(built)
    assert timedelta(minutes=29) < request.expires_at - request.created_at <= timedelta(minutes=30)
    assert request.deadline_reason.endswith("too late to prevent the damage.")


def test_an_unknown_next_read_leaves_the_policys_minimum() -> None:
    request = asked(house(next_read=None))
    assert request.expires_at - request.created_at == timedelta(minutes=30)
    assert "not known" in request.deadline_reason


def test_after_the_damage_the_policy_has_more_patience(built: House) -> None:
    Damage.objects.filter(incident=built.incident).update(state="done", done_at=now())
    request = asked(built)
    assert request.expires_at - request.created_at == timedelta(days=1)


def test_the_fallback_begins_at_half_of_the_time(built: House) -> None:
    request = asked(built)
    half = int((request.expires_at - request.created_at).total_seconds()) // 2
    assert [link["starts_after_seconds"] for link in request.chain] == [0, half]
    assert request.due_at == request.created_at + timedelta(seconds=half)


def test_asking_twice_gives_the_same_request(built: House) -> None:
    first = asked(built)
    assert ask(first.plan_id, actor=conductor()) == first
    assert Request.objects.count() == 1


def test_without_a_channel_the_timeline_says_that_the_request_stays_here(built: House) -> None:
    asked(built)
    rows = [row for row in timeline(built.incident.pk) if row.action == "request.turn"]
    assert [row.detail.body["facts"]["where"] for row in rows] == ["kept here, no channel configured"]


def test_below_level_2_nobody_is_asked() -> None:
    with pytest.raises(NotAllowed, match="L1"):
        asked(house(level=1))


def test_a_person_who_wrote_the_plan_is_passed_over(built: House) -> None:
    request = asked(built, author=built.approver.principal)
    assert [link["person"] for link in request.chain] == [built.fallback.pk]
    assert [turn.person for turn in request.turns.all()] == [built.fallback]


def test_the_owner_of_the_agent_that_wrote_the_plan_is_passed_over(built: House) -> None:
    request = asked(built, author=create_agent("helper", owner=built.approver))
    assert [link["person"] for link in request.chain] == [built.fallback.pk]


def test_a_deactivated_approver_is_passed_over(built: House) -> None:
    deactivate(built.approver, actor=as_actor(built.second))
    assert [link["person"] for link in asked(built).chain] == [built.fallback.pk]


def test_nobody_eligible_refuses_in_a_sentence_and_leaves_one_alarm(built: House) -> None:
    deactivate(built.approver, actor=as_actor(built.second))
    drafted = plan(built, author=built.fallback.principal)
    for _ in range(2):
        with pytest.raises(Nobody, match=r"is deactivated and .* wrote the plan"):
            ask(drafted.pk, actor=conductor())
    assert AuditRow.objects.filter(action="request.nobody").count() == 1
    assert Plan.objects.get(pk=drafted.pk).state == "draft"
    assert not Request.objects.exists()


def test_a_domain_without_a_policy_names_nobody(built: House) -> None:
    built.policy.delete()
    with pytest.raises(Nobody, match="names no approver"):
        asked(built)


def test_a_plan_whose_rows_changed_after_drafting_is_not_asked(built: House) -> None:
    drafted = plan(built)
    Step.objects.filter(plan=drafted, position=2).update(params={"select": ["everything"]})
    with pytest.raises(Conflict, match="drafted again"):
        ask(drafted.pk, actor=conductor())


def test_a_plan_that_the_rehearsal_contradicted_is_not_asked(built: House) -> None:
    drafted = plan(built)
    Plan.objects.filter(pk=drafted.pk).update(rehearsal={"state": "contradicted"})
    with pytest.raises(Conflict, match="contradicted"):
        ask(drafted.pk, actor=conductor())


def test_superseding_ends_plan_and_request_together_and_only_once(built: House) -> None:
    request = asked(built)
    assert supersede(request.plan_id, "a newer build is right", actor=conductor())
    assert not supersede(request.plan_id, "again", actor=conductor())
    request.refresh_from_db()
    assert (request.state, request.plan.state) == ("superseded", "superseded")


def test_a_plan_that_was_due_is_not_due_any_more_once_it_is_asked(built: House) -> None:
    drafted = plan(built)
    Plan.objects.filter(pk=drafted.pk).update(due_at=now(), lease_until=now(), lease_token=uuid4())
    ask(drafted.pk, actor=conductor())
    row = Plan.objects.get(pk=drafted.pk)
    assert (row.state, row.due_at, row.lease_until, row.lease_token) == ("asking", None, None, None)


def test_superseding_ends_also_a_request_that_was_asked_while_it_waited(
    built: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafted, real = plan(built), locks.lock

    def lock(rows: Any, **lookup: Any) -> Any:
        if rows.model is Plan:
            monkeypatch.setattr(asking, "lock", real)
            ask(drafted.pk, actor=conductor())
        return real(rows, **lookup)

    monkeypatch.setattr(asking, "lock", lock)
    assert supersede(drafted.pk, "a newer one stands", actor=conductor())
    request = Request.objects.get()
    assert (request.state, request.due_at) == ("superseded", None)
