"""The database refuses what no service would do: each test writes past the services."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction

from approvals.models import (
    AutonomyRule,
    Checkpoint,
    Leaf,
    LedgerHead,
    LedgerKey,
    LevelChange,
    Outcome,
    Plan,
    Receipt,
    Request,
    Stop,
    Turn,
    Vote,
    VoteReason,
)
from approvals.services import receipts
from approvals.services.autonomy import lower, propose_raise
from approvals.services.stop import set_stop
from foundation.clock import now
from foundation.triggers import missing
from incidents.models import Incident
from tests.approvals.builders import House, approved, asked, house, past_its_deadline, post, raise_level

pytestmark = pytest.mark.django_db


@pytest.fixture
def built() -> House:
    return house()


def refused(write: Callable[[], object], said: str) -> None:
    with pytest.raises(IntegrityError, match=said), transaction.atomic():
        write()


def vote(request: Request, who: House, decision: str = "approve", **more: object) -> Vote:
    shown = {"plan_digest": request.plan_digest, "shown_digest": request.shown_digest, "reason_sha256": "0" * 64}
    fields = {"request": request, "person": who.approver, "decision": decision, "at": now(), **shown, **more}
    return Vote.objects.create(idempotency_key=f"raw-{decision}", **fields)


def test_the_catalogue_has_exactly_the_triggers_of_the_lists() -> None:
    assert missing() == []


def test_votes_and_outcomes_are_never_changed_or_deleted(built: House) -> None:
    approved(built)
    refused(lambda: Vote.objects.update(decision="reject"), "append-only")
    refused(lambda: VoteReason.objects.update(text="other words"), "never changed")
    VoteReason.objects.all().delete()  # the words may be erased, the vote stays
    refused(lambda: Vote.objects.all().delete(), "append-only")
    refused(lambda: Outcome.objects.update(steps=[1, 2]), "append-only")
    refused(lambda: Outcome.objects.all().delete(), "append-only")


def test_an_outcome_needs_the_votes_that_decide_it(built: House) -> None:
    request = asked(built)

    def write(decision: str) -> Outcome:
        return Outcome.objects.create(request=request, decision=decision, steps=[1], at=now())

    refused(lambda: write("approve"), "whose votes decide it")
    vote(request, built)
    refused(lambda: write("reject"), "whose votes decide it")
    write("approve")


def test_one_vote_is_not_two() -> None:
    built = house(required=2)
    request = asked(built)
    post(request, built.approver)
    refused(
        lambda: Outcome.objects.create(request=request, decision="approve", steps=[1], at=now()),
        "whose votes decide it",
    )


def test_no_vote_counts_after_the_deadline(built: House) -> None:
    request = asked(built)
    past_its_deadline(request)
    refused(lambda: vote(request, built), "has not expired")


def test_a_request_is_approved_by_an_outcome_alone(built: House) -> None:
    request = asked(built)
    rows = Request.objects.filter(pk=request.pk)
    refused(lambda: rows.update(state="approved", ended_at=now()), "outcome alone")
    vote(request, built, "reject")
    Outcome.objects.create(request=request, decision="reject", steps=[], at=now())
    refused(lambda: rows.update(state="approved", ended_at=now()), "outcome alone")
    rows.update(state="rejected", ended_at=now())


@pytest.mark.parametrize("state", ["pending", "approved", "expired"])
def test_a_request_that_ended_stays_so(built: House, state: str) -> None:
    request = asked(built)
    post(request, built.approver, "reject")
    ended_at = None if state == "pending" else now()
    refused(lambda: Request.objects.update(state=state, ended_at=ended_at), "stays so")


def test_a_request_begins_pending_and_is_never_deleted(built: House) -> None:
    request = asked(built)
    values = {
        field.attname: getattr(request, field.attname) for field in Request._meta.concrete_fields if field.name != "id"
    }
    post(request, built.approver, "reject")
    refused(lambda: Request.objects.create(**{**values, "state": "approved", "ended_at": now()}), "begins pending")
    refused(lambda: Turn.objects.all().delete(), "never deleted")
    refused(lambda: Request.objects.all()._raw_delete("default"), "never deleted")


@pytest.mark.parametrize(
    "change", [{"shown_digest": "0" * 64}, {"shown": b"{}"}, {"chain": []}, {"required": 2}, {"plan_digest": "0" * 64}]
)
def test_what_was_shown_is_frozen(built: House, change: dict[str, object]) -> None:
    asked(built)
    refused(lambda: Request.objects.update(**change), "never change")


def test_a_plan_that_was_asked_for_does_not_change(built: House) -> None:
    asked(built)
    refused(lambda: Plan.objects.update(plan_digest="0" * 64), "does not change")
    refused(lambda: Plan.objects.update(body=b"{}"), "does not change")


@pytest.mark.parametrize("state", ["verified", "failed"])
def test_a_plan_cannot_end_without_its_receipt(built: House, state: str) -> None:
    plan = approved(built)
    refused(lambda: Plan.objects.update(state=state), "without its receipt")
    receipts.write("plan", f"plan/{plan.pk}", {}, receipts.plan_subjects(plan), created_at=now())
    Plan.objects.update(state=state)
    refused(lambda: Plan.objects.update(state="acting"), "stays so")


def test_an_incident_cannot_close_without_its_receipt(built: House) -> None:
    def close() -> int:
        return Incident.objects.update(state="closed", resolution="repaired", closed_at=now())

    refused(close, "without its receipt")
    subject = f"incident/{built.incident.pk}"
    receipts.write("incident", subject, {}, [receipts.of_values(subject, {"a": 1})], created_at=now())
    assert close() == 1


def test_a_level_cannot_be_written_up(built: House) -> None:
    rules = AutonomyRule.objects.filter(domain=built.domain)
    refused(lambda: rules.update(level=3), "rises by one")
    refused(lambda: rules.update(level=4), "rises by one")
    refused(lambda: AutonomyRule.objects.create(domain=built.domain, step_class="message", level=3), "rises by one")
    refused(lambda: rules.update(step_class="message"), "never change")
    refused(lambda: rules.all().delete(), "never deleted")
    AutonomyRule.objects.create(domain=built.domain, step_class="message", level=2)  # no more than it had


def test_an_old_raise_does_not_carry_a_later_one(built: House) -> None:
    lower(built.domain, "", 1, person=built.stranger)
    rules = AutonomyRule.objects.filter(domain=built.domain)
    refused(lambda: rules.update(level=2), "rises by one")
    propose_raise(built.domain, "", person=built.owner, reason="right")
    refused(lambda: rules.update(level=2), "rises by one")
    LevelChange.objects.filter(state="proposed").update(state="withdrawn", ended_at=now())
    raise_level(built)


def test_a_raise_without_its_receipt_is_no_raise(built: House) -> None:
    lower(built.domain, "", 1, person=built.stranger)
    LevelChange.objects.create(
        domain=built.domain, step_class="", from_level=1, to_level=2, state="done", proposed_by=built.owner,
        seconded_by=built.second, proposed_at=now(), ended_at=now() + timedelta(seconds=1),
    )  # fmt: skip
    refused(lambda: AutonomyRule.objects.filter(domain=built.domain).update(level=2), "a receipt")


def test_a_raise_by_one_person_or_by_two_levels_cannot_even_be_written(built: House) -> None:
    def change(**values: object) -> LevelChange:
        both = {"domain": built.domain, "proposed_by": built.owner, "proposed_at": now(), "ended_at": now()}
        return LevelChange.objects.create(**both, state="done", **values)

    refused(lambda: change(from_level=2, to_level=3, seconded_by=built.owner), "approvals_raise_needs_two")
    refused(lambda: change(from_level=2, to_level=3), "approvals_raise_needs_two")
    refused(lambda: change(from_level=1, to_level=3, seconded_by=built.second), "approvals_raise_by_one")


def test_a_change_of_level_that_ended_stays_so(built: House) -> None:
    refused(lambda: LevelChange.objects.update(state="withdrawn"), "stays so")
    refused(lambda: LevelChange.objects.update(seconded_by=built.stranger), "stays so")
    refused(lambda: LevelChange.objects.update(to_level=1), "never change")
    refused(lambda: LevelChange.objects.all().delete(), "never deleted")


def test_a_statement_never_changes_and_a_seal_stays(built: House) -> None:
    receipt = Receipt.objects.get(type="level")
    rows = Receipt.objects.filter(pk=receipt.pk)
    refused(lambda: rows.update(statement=b"{}"), "never change")
    refused(lambda: rows.update(created_at=now()), "never change")
    rows.update(envelope=b"{}", sealed_at=now())
    refused(lambda: rows.update(envelope=b"{ }"), "as it was signed")
    refused(lambda: rows.update(envelope=None, sealed_at=None), "as it was signed")
    refused(lambda: rows._raw_delete("default"), "never deleted")


def test_the_ledger_takes_the_next_index_and_never_shrinks(built: House) -> None:
    receipt = Receipt.objects.get(type="level")

    def leaf(index: int) -> Leaf:
        return Leaf.objects.create(index=index, receipt=receipt, data=b"{}", leaf_hash="0" * 64)

    def checkpoint(size: int) -> Checkpoint:
        return Checkpoint.objects.create(size=size, root="0" * 64, note="", at=now())

    refused(lambda: leaf(1), "next index")
    refused(lambda: checkpoint(1), "not larger than the ledger")
    leaf(0)
    checkpoint(1)
    refused(lambda: checkpoint(0), "larger than the last one")
    refused(lambda: Leaf.objects.update(data=b"[]"), "append-only")
    refused(lambda: Leaf.objects.all().delete(), "append-only")
    refused(lambda: Checkpoint.objects.update(note="x"), "append-only")
    LedgerKey.objects.create(vkey="a+b+c", role="receipt", since_size=0, at=now())
    refused(lambda: LedgerKey.objects.update(vkey="d"), "append-only")
    LedgerHead.objects.create(pk=1, size=3)
    refused(lambda: LedgerHead.objects.update(size=2), "does not shrink")


def test_the_stop_cannot_be_deleted(built: House) -> None:
    set_stop("moving", person=built.stranger)
    refused(lambda: Stop.objects.all().delete(), "never deleted")


def test_whoever_deactivates_a_person_makes_their_pending_requests_due(built: House) -> None:
    request = asked(built)
    Request.objects.update(due_at=None)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE foundation_person SET is_active = %s WHERE id = %s", [False, built.fallback.pk])
    request.refresh_from_db()
    assert request.due_at is not None
    assert request.due_at <= now()
