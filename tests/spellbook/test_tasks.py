"""What a worker does with a due row: one thing, a reason said once, a crash taken up again."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from approvals.services import autonomy, incident_receipt
from catalog.models import Asset, Build, Domain
from catalog.selectors import find_asset
from catalog.services import builds
from foundation import audit, due
from foundation.clock import now
from foundation.errors import Busy, SpellbookError, Unavailable
from foundation.models import AuditRow
from foundation.people import create_person
from incidents.models import BuildReview, Incident
from incidents.services import checks
from incidents.services.record import record
from spellbook import conductor, stuck, tasks
from tests.catalog.manifests import run_results, shop
from tests.spellbook.machines import command_line, make_shop

RESULTS = run_results(("model.shop.orders", "success", 5), ("model.shop.revenue", "success", 1))


@pytest.fixture(autouse=True)
def graph(committing: str, settings: Settings, tmp_path: Path) -> None:
    settings.ARTIFACTS_DIR = tmp_path / "artifacts"
    make_shop()


@pytest.fixture
def incident() -> Incident:
    """An open incident that is due."""
    orders = find_asset("main.orders")
    for night in range(5):
        record(orders, "row_count", 1_000, actor=command_line(), build_key=f"night-{night}")
    opened = record(orders, "row_count", 10, actor=command_line(), build_key="bad").incident
    assert opened is not None
    return opened


def announced(key: str = "night", **more: Any) -> Build:
    files = {"manifest": shop(stamp=key), "run_results": RESULTS}
    return builds.announce(key=key, kind="dbt", connection="wh", artifacts=files, actor=command_line(), **more)[0]


def failing(error: BaseException) -> Callable[..., bool]:
    def fail(*_: object, **__: object) -> bool:
        raise error

    return fail


def in_seconds(row: Incident | Build) -> float:
    row.refresh_from_db()
    assert row.due_at is not None
    assert row.lease_token is None
    return (row.due_at - now()).total_seconds()


def said(row: Incident | Build) -> list[str]:
    rows = AuditRow.objects.filter(action=stuck.NOT_DONE, target_id=str(row.pk)).order_by("pk")
    return [audit.sentence(one) for one in rows]


def make_due(row: Incident | Build) -> None:
    type(row)._base_manager.filter(pk=row.pk).update(due_at=now())


def test_after_a_change_the_next_look_follows_at_once(incident: Incident) -> None:
    assert tasks.advance_incident(str(incident.pk)) is True
    incident.refresh_from_db()
    assert incident.reached_at is not None
    assert incident.told_at is None
    assert in_seconds(incident) <= 0


def test_while_nothing_is_next_the_row_waits(incident: Incident, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conductor, "step", lambda _: False)
    assert tasks.advance_incident(str(incident.pk)) is False
    assert 0 < in_seconds(incident) <= tasks.WAITING.total_seconds()


def test_a_row_that_is_not_due_or_held_or_closed_is_left_alone(incident: Incident) -> None:
    held = due.claim_one(Incident.objects.all(), incident.pk, lease=tasks.LEASE)
    assert held is not None
    assert tasks.advance_incident(str(incident.pk)) is False
    due.finish(held, due_at=now() + timedelta(hours=1))
    assert tasks.advance_incident(str(incident.pk)) is False
    assert tasks.advance_incident("00000000-0000-0000-0000-000000000000") is False
    incident.refresh_from_db()
    assert incident.reached_at is None


def test_a_worker_that_lost_its_lease_does_not_move_the_row(
    incident: Incident, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = now() + timedelta(hours=1)

    def slow(_: Incident) -> bool:
        Incident.objects.update(lease_token=None, lease_until=None, due_at=later)  # somebody else had it meanwhile
        return True

    monkeypatch.setattr(conductor, "step", slow)
    tasks.advance_incident(str(incident.pk))
    incident.refresh_from_db()
    assert incident.due_at == later


def test_an_incident_that_a_look_closes_is_never_due_again(incident: Incident, monkeypatch: pytest.MonkeyPatch) -> None:
    def close(row: Incident) -> bool:
        return incident_receipt.close_with_receipt(
            row.pk, actor=conductor.conductor(), resolution="accepted", reason="so it is"
        )

    monkeypatch.setattr(conductor, "step", close)
    assert tasks.advance_incident(str(incident.pk)) is True
    incident.refresh_from_db()
    assert (incident.state, incident.due_at, incident.lease_until) == ("closed", None, None)


@pytest.mark.parametrize(
    ("error", "pause", "words"),
    [
        (Unavailable("The warehouse is locked."), tasks.TROUBLE, "The warehouse is locked."),
        (Busy("It is busy;\nnothing was recorded."), tasks.TROUBLE, "It is busy; nothing was recorded."),
        (SpellbookError("the " + "x" * 900), tasks.TROUBLE, "The " + "x" * 496),
        (RuntimeError("a secret of ours"), tasks.FAULT, tasks.OUR_FAULT),
    ],
    ids=["unavailable", "busy", "long", "fault"],
)  # fmt: skip
def test_what_could_not_be_done_is_said_once_and_tried_later(
    error: Exception, pause: timedelta, words: str, incident: Incident, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conductor, "step", failing(error))
    for _ in range(3):
        make_due(incident)
        assert tasks.advance_incident(str(incident.pk)) is False
        assert pause.total_seconds() - 3 < in_seconds(incident) <= pause.total_seconds()
    assert said(incident) == [words]
    assert AuditRow.objects.get(action=stuck.NOT_DONE).correlation_id == incident.pk


def test_two_reasons_in_turn_are_said_once_each_until_something_else_happens(incident: Incident) -> None:
    for _ in range(3):
        stuck.note(incident, "one")
        stuck.note(incident, "two")
    assert said(incident) == ["one", "two"]
    tasks.advance_incident(str(incident.pk))
    stuck.note(incident, "one")
    assert said(incident) == ["one", "two", "one"]


def test_a_reason_that_cannot_be_written_is_logged(
    incident: Incident, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(audit, "record", failing(Busy("The database is busy; nothing was recorded.")))
    with caplog.at_level(logging.WARNING):
        stuck.note(incident, "the disk is full")
    assert "the disk is full" in caplog.text


def test_the_sweep_sends_each_row_to_the_queue_of_its_stage(
    incident: Incident, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[object, object]] = []
    monkeypatch.setattr(tasks.advance_incident, "apply_async", lambda args, **how: sent.append((args, how)))
    assert tasks.wake_incidents() == 1
    assert sent == [((str(incident.pk),), {"queue": "wake", "expires": 2.0})]
    Incident.objects.update(told_at=now(), reached_at=now())
    tasks.wake_incidents()
    assert sent[-1][1] == {"queue": "work", "expires": 2.0}
    due.claim_one(Incident.objects.all(), incident.pk, lease=tasks.LEASE)
    assert tasks.wake_incidents() == 0
    assert tasks.wake_plans() == 0


# --- builds ----------------------------------------------------------------------------------------------------------


def test_a_build_is_read_measured_and_done() -> None:
    build = announced()
    assert tasks.process_builds() == 1
    build.refresh_from_db()
    assert (build.due_at, build.lease_token, build.refusal) == (None, None, "")
    assert BuildReview.objects.get(build=build).measured_at is not None
    assert tasks.process_builds() == 0


def test_a_crash_between_reading_and_measuring_is_taken_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    announced()
    with monkeypatch.context() as patched:
        patched.setattr(checks, "review", failing(KeyboardInterrupt()))  # as a kill: no handler runs
        pytest.raises(KeyboardInterrupt, tasks.process_builds)  # noqa: RUF061 - mypy takes what follows a with for dead
    left = Build.objects.get()
    assert left.processed_at is not None
    assert left.due_at is not None
    assert tasks.process_builds() == 0, "the lease of the dead worker still runs"
    Build.objects.update(lease_until=now() - timedelta(seconds=1))
    assert tasks.process_builds() == 1
    assert Build.objects.get().due_at is None
    assert BuildReview.objects.get().measured_at is not None
    assert AuditRow.objects.filter(action="build.processed").count() == 1


def test_one_build_in_trouble_does_not_hold_up_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    bad, good = announced("bad"), announced("good")
    whole = builds.process

    def process(pk: Any, **more: Any) -> Build:
        if pk == bad.pk:
            raise RuntimeError("a fault")
        return whole(pk, **more)

    monkeypatch.setattr(builds, "process", process)
    assert tasks.process_builds() == 2
    assert in_seconds(bad) > tasks.TROUBLE.total_seconds()
    good.refresh_from_db()
    assert good.due_at is None
    assert said(bad) == [tasks.OUR_FAULT]
    assert AuditRow.objects.get(action=stuck.NOT_DONE).correlation_id is None


def test_at_level_zero_a_build_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = create_person("owner@example.org", "Owner")
    domain = Domain.objects.create(key="d", name="d", owner=owner)
    Asset.objects.filter(name="dev.main.orders").update(domain=domain)
    autonomy.lower(domain, "", 0, person=owner)
    asked: list[bool] = []

    def review(build: Build, *, judged: Callable[[Asset], bool], **_: object) -> None:
        asked.extend(judged(find_asset(name)) for name in ("main.orders", "main.revenue"))

    monkeypatch.setattr(checks, "review", review)
    announced()
    tasks.process_builds()
    assert asked == [False, True]
