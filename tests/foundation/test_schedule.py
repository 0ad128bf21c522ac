from __future__ import annotations

from datetime import UTC, datetime

import pytest

from foundation import schedule
from foundation.errors import BadInput


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
    assert schedule.next_run(cron, zone, datetime.fromisoformat(after)) == datetime.fromisoformat(expected)


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
        schedule.next_run(cron, zone, datetime(2026, 1, 1, tzinfo=UTC))


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(BadInput):
        schedule.next_run("0 2 * * *", "UTC", datetime(2026, 1, 1))


def test_a_schedule_is_checked_without_a_clock_and_one_that_cannot_be_read_has_no_next_time() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    schedule.check_schedule("0 2 29 2 *", "Europe/Berlin")
    for cron, zone in (("0 2 * *", "UTC"), ("0 2 30 2 *", "UTC"), ("0 2 * * *", "Nowhere/At_all")):
        with pytest.raises(BadInput):
            schedule.check_schedule(cron, zone)
        assert schedule.next_time(cron, zone, at) is None
    assert schedule.next_time("", "UTC", at) is None
    assert schedule.next_time("0 2 * * *", "", at) == datetime(2026, 1, 1, 2, tzinfo=UTC)
