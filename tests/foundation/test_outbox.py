from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction

from foundation import clock, outbox
from foundation.errors import BadInput, Conflict, Unavailable
from foundation.models import AuditRow, Outbox
from tests.foundation.cast import actor, at_once

pytestmark = pytest.mark.django_db

Send = Callable[[Outbox], str]


@pytest.fixture
def channel(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Installs a sender for "test:…" for one test."""
    monkeypatch.setattr(outbox, "_DESTINATIONS", {})
    return lambda send, **more: outbox.register_destination("test", send, **more)


def put(destination: str = "test:night-shift") -> Outbox:
    with transaction.atomic():
        return outbox.put(
            event="incident:1", destination=destination, purpose="alert", body={"text": "rows are missing"}
        )


def failing(error: Exception) -> Send:
    def send(row: Outbox) -> str:
        raise error

    return send


def hanging(row: Outbox) -> str:
    time.sleep(30)
    return ""


def test_a_message_is_sent_once_and_its_provider_id_kept(channel: Callable[..., None]) -> None:
    sent: list[dict[str, str]] = []
    channel(lambda row: sent.append(row.body) or "m-17")  # type: ignore[func-returns-value]
    row = put()
    assert outbox.deliver_due() == 1
    assert outbox.deliver_due() == 0
    row.refresh_from_db()
    assert sent == [{"text": "rows are missing"}]
    assert (row.state, row.provider_id, row.due_at) == ("sent", "m-17", None)
    assert row.sent_at is not None


def test_the_same_message_is_put_once() -> None:
    assert put() == put()
    assert Outbox.objects.count() == 1


def test_a_message_needs_the_transaction_of_its_cause(committing: str) -> None:
    with pytest.raises(RuntimeError):
        outbox.put(event="e", destination="test:x", purpose="p", body={})


def test_sending_happens_outside_of_any_transaction(committing: str, channel: Callable[..., None]) -> None:
    seen: list[bool] = []
    channel(lambda row: seen.append(connection.in_atomic_block) or "")  # type: ignore[func-returns-value]
    put()
    assert outbox.deliver_due() == 1
    assert seen == [False]


def test_a_failure_is_tried_again_later_and_shows_no_secret(channel: Callable[..., None]) -> None:
    channel(failing(RuntimeError("https://hooks.example.org/T0/s3cr3t said no")))
    row = put()
    assert outbox.deliver_due() == 0
    row.refresh_from_db()
    assert row.state == "pending"
    assert row.last_error == "The message could not be sent (RuntimeError)."
    assert row.due_at is not None
    assert row.due_at > clock.now()


def test_after_the_last_attempt_it_has_failed_for_all_to_see(
    channel: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "pause_after", lambda attempts: timedelta(0))
    channel(failing(Unavailable("The other side is closed.")))
    row = put()
    outbox.deliver_due(limit=outbox.MAX_ATTEMPTS + 5)
    row.refresh_from_db()
    assert (row.state, row.attempts, row.last_error) == ("failed", outbox.MAX_ATTEMPTS, "The other side is closed.")
    outbox.retry(row, actor=actor("web"))
    with pytest.raises(Conflict):
        outbox.retry(row, actor=actor("web"))
    row.refresh_from_db()
    assert (row.state, row.attempts) == ("pending", 0)
    assert AuditRow.objects.filter(action="message.retried").count() == 1


def test_what_cannot_ever_work_fails_at_once(channel: Callable[..., None]) -> None:
    channel(failing(BadInput("There is no such channel.")))
    row = put()
    outbox.deliver_due()
    row.refresh_from_db()
    assert (row.state, row.last_error) == ("failed", "There is no such channel.")


def test_a_kind_that_nobody_installed_is_said_to_be_so(channel: Callable[..., None]) -> None:
    row = put("pigeon:loft")
    outbox.deliver_due()
    row.refresh_from_db()
    assert row.state == "failed"
    assert row.last_error == "No channel of the kind pigeon is installed here; this message was not sent."


def test_a_sender_that_hangs_is_cut_off(channel: Callable[..., None]) -> None:
    channel(hanging, timeout=0.05)
    row = put()
    started = time.monotonic()
    outbox.deliver_due()
    assert time.monotonic() - started < 10
    row.refresh_from_db()
    assert row.last_error == "No answer within 0.05 seconds; whether the message arrived is unknown."


def test_a_kind_has_one_sender(channel: Callable[..., None]) -> None:
    channel(lambda row: "")
    with pytest.raises(ValueError, match="registered"):
        channel(lambda row: "")


def test_pauses_grow_up_to_a_limit() -> None:
    pauses = [outbox.pause_after(number) for number in range(1, 12)]
    assert pauses == sorted(pauses)
    assert pauses[0] == timedelta(seconds=5)
    assert pauses[-1] == timedelta(minutes=15)


def test_the_database_keeps_what_was_put(channel: Callable[..., None]) -> None:
    channel(lambda row: "")
    put()
    with pytest.raises(IntegrityError), transaction.atomic():
        Outbox.objects.update(body={"text": "all is well"})
    outbox.deliver_due()
    with pytest.raises(IntegrityError), transaction.atomic():
        Outbox.objects.update(state="pending", due_at=clock.now(), sent_at=None)
    with pytest.raises(IntegrityError), transaction.atomic():
        Outbox.objects.all().delete()


def test_workers_at_once_send_each_message_once(committing: str, channel: Callable[..., None]) -> None:
    sent: list[str] = []
    channel(lambda row: sent.append(row.destination) or "")  # type: ignore[func-returns-value]
    for number in range(12):
        put(f"test:{number}")
    at_once(4, outbox.deliver_due)
    assert sorted(sent) == sorted(f"test:{number}" for number in range(12))
