from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from foundation import clock
from foundation.models import Inbox
from tests.foundation.cast import due_row


@pytest.mark.django_db
def test_the_database_says_the_time_in_utc() -> None:
    moment = clock.now()
    assert moment.tzinfo is UTC
    assert abs(moment - datetime.now(UTC)) < timedelta(seconds=5)


@pytest.mark.django_db
def test_the_clock_runs_on_inside_a_transaction() -> None:
    first = clock.now()
    for _ in range(10_000):
        if clock.now() > first:
            return
    pytest.fail("the clock stood still")


@pytest.mark.django_db
def test_the_clock_filters_and_writes() -> None:
    past, future = due_row("past"), due_row("future", ago=timedelta(hours=-1))
    assert list(Inbox.objects.filter(due_at__lte=clock.DatabaseNow())) == [past]
    Inbox.objects.update(processed_at=clock.DatabaseNow())
    future.refresh_from_db()
    assert future.processed_at is not None
    assert abs(future.processed_at - clock.now()) < timedelta(seconds=5)


def test_a_moment_on_the_full_second_sorts_with_the_clock(django_db_blocker: object, db: None) -> None:
    row = due_row()
    whole = (clock.now() - timedelta(seconds=1)).replace(microsecond=0)
    Inbox.objects.update(due_at=whole)
    assert Inbox.objects.filter(pk=row.pk, due_at__lt=clock.DatabaseNow()).exists()
