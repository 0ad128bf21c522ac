from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from foundation import clock, due, inbox
from foundation.errors import BadInput
from foundation.models import Inbox
from tests.foundation.cast import at_once

pytestmark = pytest.mark.django_db


def test_a_message_is_stored_once_as_raw_bytes_and_is_due() -> None:
    row, created = inbox.receive(
        source="orchestrator", external_id="run-1", body=b"\x00\xff{}", headers={"X-Kind": "a\0b"}
    )
    again, twice = inbox.receive(source="orchestrator", external_id="run-1", body=b"other")
    assert (created, twice, again) == (True, False, row)
    stored = Inbox.objects.get()
    assert bytes(stored.body) == b"\x00\xff{}"
    assert stored.headers == {"x-kind": "a\ufffdb"}
    assert due.oldest_due_age([Inbox]) is not None


def test_headers_that_prove_who_sent_it_are_dropped() -> None:
    names = ["Authorization", "Cookie", "X-Hub-Signature-256", "X-Slack-Signature", "X-Auth-Token", "X-API-Key"]
    row, _ = inbox.receive(source="s", external_id="1", body=b"", headers=dict.fromkeys(names, "s3cr3t"))
    assert row.headers == {}


@pytest.mark.parametrize("external_id", ["", "x" * 301, "a\nb", "a\0"])
def test_an_unusable_id_is_refused(external_id: str) -> None:
    with pytest.raises(BadInput):
        inbox.receive(source="s", external_id=external_id, body=b"")


def test_what_came_in_stays_as_it_came() -> None:
    inbox.receive(source="s", external_id="1", body=b"true")
    for body in (b"false", b""):
        with pytest.raises(IntegrityError), transaction.atomic():
            Inbox.objects.update(body=body)
    with pytest.raises(IntegrityError), transaction.atomic():
        Inbox.objects.all().delete()


def test_a_body_may_be_dropped_when_it_is_processed_and_never_comes_back() -> None:
    inbox.receive(source="s", external_id="1", body=b"true")
    Inbox.objects.update(body=b"", processed_at=clock.now())
    assert bytes(Inbox.objects.get().body) == b""
    with pytest.raises(IntegrityError), transaction.atomic():
        Inbox.objects.update(body=b"true")


def test_one_of_many_that_arrive_at_once_is_stored(committing: str) -> None:
    created: list[bool] = []
    at_once(5, lambda: created.append(inbox.receive(source="s", external_id="1", body=b"x")[1]))
    assert sorted(created) == [False, False, False, False, True]
    assert Inbox.objects.count() == 1
