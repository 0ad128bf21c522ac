from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction

from foundation import clock, due
from foundation.models import Inbox, Outbox
from tests.foundation.cast import at_once, due_row

pytestmark = pytest.mark.django_db
LEASE = timedelta(minutes=1)


def claim(limit: int = 10) -> list[Inbox]:
    return due.claim(Inbox.objects.all(), limit=limit, lease=LEASE)


def test_only_what_is_due_is_claimed_and_the_oldest_first() -> None:
    late, later = due_row("late"), due_row("later", ago=timedelta(hours=2))
    due_row("not yet", ago=timedelta(hours=-1))
    Inbox.objects.filter(pk=due_row("never").pk).update(due_at=None)
    rows = claim()
    assert rows == [later, late]
    assert {row.attempts for row in rows} == {1}
    stored = Inbox.objects.get(pk=late.pk)
    assert (stored.lease_token, stored.lease_until, stored.attempts) == (rows[1].lease_token, rows[1].lease_until, 1)


def test_a_claimed_row_is_left_alone_until_its_lease_ends() -> None:
    row = due_row()
    (first,) = claim()
    assert claim() == []
    assert due.claim_one(Inbox.objects.all(), row.pk, lease=LEASE) is None
    Inbox.objects.update(lease_until=clock.now() - timedelta(seconds=1))
    (second,) = claim()
    assert second.attempts == 2
    assert second.lease_token != first.lease_token


def test_who_lost_the_lease_cannot_finish() -> None:
    due_row()
    (first,) = claim()
    Inbox.objects.update(lease_until=clock.now() - timedelta(seconds=1))
    (second,) = claim()
    assert not due.finish(first, due_at=None, refusal="mine")
    assert not due.renew(first, lease=LEASE)
    assert due.renew(second, lease=LEASE)
    assert due.finish(second, due_at=None, refusal="done")
    assert not due.finish(second, due_at=None)
    stored = Inbox.objects.get()
    assert (stored.due_at, stored.lease_token, stored.lease_until, stored.refusal) == (None, None, None, "done")
    assert second.refusal == "done"


def test_a_row_that_was_never_claimed_cannot_be_finished() -> None:
    assert not due.finish(due_row(), due_at=None)


def test_a_finished_row_comes_back_when_it_is_due_again() -> None:
    due_row()
    (row,) = claim()
    assert due.finish(row, due_at=clock.now())
    assert claim() == [row]


def test_claiming_takes_many_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due, "CHUNK", 3)
    for number in range(8):
        due_row(str(number))
    assert len(claim(limit=7)) == 7
    assert len(claim(limit=7)) == 1
    assert claim(limit=7) == []


def test_a_queryset_narrows_the_claim() -> None:
    due_row("a")
    wanted = due_row("b")
    assert due.claim(Inbox.objects.filter(external_id="b"), limit=5, lease=LEASE) == [wanted]


def test_claim_one_takes_a_due_row() -> None:
    row = due_row()
    assert due.claim_one(Inbox.objects.all(), row.pk, lease=LEASE) == row
    assert due.claim_one(Inbox.objects.all(), uuid4(), lease=LEASE) is None


def test_a_look_at_nothing_takes_no_lock(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(2):
        assert claim() == []


def test_a_claim_must_be_committed_before_the_work(committing: str) -> None:
    due_row()
    with pytest.raises(RuntimeError), transaction.atomic():
        claim()


def test_the_age_of_the_oldest_waiting_row() -> None:
    assert due.oldest_due_age([Inbox, Outbox]) is None
    due_row("a", ago=timedelta(seconds=90))
    due_row("b", ago=timedelta(seconds=10))
    age = due.oldest_due_age([Inbox, Outbox])
    assert age is not None
    assert timedelta(seconds=90) <= age < timedelta(seconds=100)
    claim(limit=1)  # who is being worked on does not wait
    age = due.oldest_due_age([Inbox])
    assert age is not None
    assert age < timedelta(seconds=30)


def test_no_row_is_claimed_twice_by_workers_at_once(committing: str) -> None:
    for number in range(60):
        due_row(str(number))
    taken: list[tuple[object, object]] = []

    def work() -> None:
        while rows := claim(limit=4):
            taken.extend((row.pk, row.lease_token) for row in rows)

    at_once(6, work)
    assert len(taken) == 60
    assert {pk for pk, _ in taken} == set(Inbox.objects.values_list("pk", flat=True))
    assert dict(taken) == dict(Inbox.objects.values_list("pk", "lease_token"))
    assert set(Inbox.objects.values_list("attempts", flat=True)) == {1}


def test_one_of_many_takes_the_only_row(committing: str) -> None:
    row = due_row()
    taken: list[Inbox | None] = []
    at_once(6, lambda: taken.append(due.claim_one(Inbox.objects.all(), row.pk, lease=LEASE)))
    assert [found for found in taken if found] == [row]


def test_a_look_shows_what_could_be_claimed_and_claims_nothing() -> None:
    late, later = due_row("late"), due_row("later", ago=timedelta(hours=2))
    due_row("not yet", ago=timedelta(hours=-1))
    assert due.look(Inbox.objects.all(), limit=10) == [later, late]
    assert due.look(Inbox.objects.all(), limit=1) == [later]
    assert claim() == [later, late]
    assert due.look(Inbox.objects.all(), limit=10) == []


def test_one_row_that_fails_does_not_hold_up_the_others() -> None:
    bad, good = due_row("bad", ago=timedelta(hours=2)), due_row("good")

    def work(row: Inbox) -> bool:
        if row == bad:
            raise ValueError("unreadable")
        return True

    assert due.each([bad, good], work) == 1
