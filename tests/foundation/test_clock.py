from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from foundation import clock
from foundation.errors import BadInput
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


@pytest.mark.parametrize(
    ("cron", "zone", "after", "expected"),
    [
        ("0 2 * * *", "UTC", "2026-01-01T01:59:00+00:00", "2026-01-01T02:00:00+00:00"),
        ("0 2 * * *", "UTC", "2026-01-01T02:00:00+00:00", "2026-01-02T02:00:00+00:00"),
        ("0 9 * * 1-5", "America/New_York", "2026-07-03T20:00:00+00:00", "2026-07-06T13:00:00+00:00"),
        # 02:30 does not exist in Berlin on 29 March 2026: the first moment after the gap
        ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00+00:00", "2026-03-29T01:00:00+00:00"),
        # 02:30 occurs twice in Berlin on 25 October 2026: once
        ("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00+00:00", "2026-10-25T00:30:00+00:00"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00+00:00", "2026-10-26T01:30:00+00:00"),
        # an hourly job runs in each hour that passes
        ("0 * * * *", "Europe/Berlin", "2026-10-25T00:00:00+00:00", "2026-10-25T01:00:00+00:00"),
    ],
)
def test_the_next_run_follows_the_zone(cron: str, zone: str, after: str, expected: str) -> None:
    assert clock.next_run(cron, zone, datetime.fromisoformat(after)) == datetime.fromisoformat(expected)


@pytest.mark.parametrize(
    ("cron", "zone"),
    [
        ("61 * * * *", "UTC"),
        ("", "UTC"),
        ("* * * * * *", "UTC"),
        ("0 0 31 2 *", "UTC"),
        ("0 2 * * *", "Mars/Olympus"),
        ("0 2 * * *", "../../etc/passwd"),
        ("0 2 * * *", "localtime"),
        ("0 2 * * *", "right/Europe/Berlin"),
        ("0 2 * * *", ""),
    ],
)
def test_a_bad_line_or_zone_is_refused(cron: str, zone: str) -> None:
    with pytest.raises(BadInput):
        clock.next_run(cron, zone, datetime(2026, 1, 1, tzinfo=UTC))


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(BadInput):
        clock.next_run("0 2 * * *", "UTC", datetime(2026, 1, 1))
