"""What leaves: a row written in the transaction of its cause, sent later, outside of any, until known to be sent.

Sending is at least once: a process that dies between the send and its note sends again when the lease is over.
`Outbox.id` never changes and serves as the idempotency key where the other side knows such a thing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from foundation import clock, due, failpoint
from foundation.audit import Actor, record, register
from foundation.deadline import deadline
from foundation.errors import BadInput, Conflict, Gone, NotAllowed, NotFound, SpellbookError
from foundation.locks import transaction
from foundation.models import Outbox
from foundation.wake import wake

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 10
FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(minutes=15)
LEASE = timedelta(minutes=5)  # longer than any destination's timeout
LONGEST_TIMEOUT = 120.0
TASK = "send.outbox"

RETRIED = register("message.retried", "Message sent again", "asked to send the message for {purpose} to {kind} again")

_HOPELESS = (BadInput, NotAllowed, NotFound, Gone)  # the next attempt would say the same

Send = Callable[[Outbox], str]


@dataclass(frozen=True)
class Destination:
    """How to send to one kind of destination, and how many seconds that may take."""

    send: Send
    timeout: float


_DESTINATIONS: dict[str, Destination] = {}


def register_destination(kind: str, send: Send, *, timeout: float = 20) -> None:
    """Send messages to "kind:rest" with `send(row)`, which returns the provider's id or "" within `timeout` seconds.

    A SpellbookError that it raises is shown as it is; of any other error only the class is kept, since its text may
    hold a secret. Raises ValueError when the kind has another sender.
    """
    if not 0 < timeout <= LONGEST_TIMEOUT:
        raise ValueError(f"A destination's timeout is at most {LONGEST_TIMEOUT:.0f} seconds.")
    destination = Destination(send, timeout)
    if _DESTINATIONS.setdefault(kind, destination) != destination:
        raise ValueError(f"The destination kind {kind!r} is registered already.")


def put(
    *, event: str, destination: str, purpose: str, body: Mapping[str, Any], correlation_id: UUID | None = None
) -> Outbox:
    """Add the message in the transaction of its cause (RuntimeError outside of one); the sweep wakes after the commit.

    One per (event, destination, purpose): a second call changes nothing and returns the first row. `body` is JSON
    without secrets.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("A message belongs in the transaction of what caused it.")
    if not destination.partition(":")[0]:
        raise BadInput("A destination reads kind:rest.")
    moment = clock.now()
    row, created = Outbox.objects.get_or_create(
        event=event,
        destination=destination,
        purpose=purpose,
        defaults={"body": dict(body), "correlation_id": correlation_id, "created_at": moment, "due_at": moment},
    )
    if created:
        wake(TASK)
    return row


def deliver_due(limit: int = 50) -> int:
    """Send up to `limit` due messages, one claim each, and return how many were sent.

    Must run outside of any transaction.
    """
    sent = 0
    for _ in range(limit):
        rows = due.claim(Outbox.objects.filter(state=Outbox.State.PENDING), limit=1, lease=LEASE)
        if not rows:
            break
        sent += _deliver(rows[0])
    return sent


def retry(row: Outbox, *, actor: Actor) -> None:
    """Make a failed message due again, with a fresh count of attempts. Conflict when it has not failed."""
    failed = Outbox.objects.filter(pk=row.pk, state=Outbox.State.FAILED)
    with transaction():
        if not failed.update(
            state=Outbox.State.PENDING, due_at=clock.now(), attempts=0, lease_token=None, lease_until=None
        ):
            raise Conflict("Only a message that failed can be sent again.")
        record(actor, RETRIED, row, facts={"purpose": row.purpose, "kind": row.destination.partition(":")[0]})
        wake(TASK)


def pause_after(attempts: int) -> timedelta:
    """How long to wait after the `attempts`-th failure: doubled each time from 5 s, at most 15 min.

    >>> [int(pause_after(n).total_seconds()) for n in (1, 2, 3, 9)]
    [5, 10, 20, 900]
    """
    doublings: int = 2 ** min(attempts - 1, 20)
    return min(FIRST_PAUSE * doublings, LONGEST_PAUSE)


def _deliver(row: Outbox) -> bool:
    kind = row.destination.partition(":")[0]
    destination = _DESTINATIONS.get(kind)
    if destination is None:
        return _fail(row, f"No channel of the kind {kind} is installed here; this message was not sent.")
    try:
        with deadline(destination.timeout):
            provider_id = destination.send(row)
    except _HOPELESS as error:
        return _fail(row, str(error))
    except Exception as error:  # whatever a sender raises, the row must say that it was not delivered
        return _again(row, _reason(error, destination.timeout))
    failpoint.hit("outbox.sent")
    moment = clock.now()
    return due.finish(
        row, due_at=None, state=Outbox.State.SENT, provider_id=provider_id[:300], sent_at=moment, last_error=""
    )


def _reason(error: Exception, timeout: float) -> str:
    if isinstance(error, SpellbookError):
        return str(error)
    if isinstance(error, TimeoutError):
        return f"No answer within {timeout:g} seconds; whether the message arrived is unknown."
    return f"The message could not be sent ({type(error).__name__})."


def _again(row: Outbox, reason: str) -> bool:
    if row.attempts >= MAX_ATTEMPTS:
        return _fail(row, reason)
    log.info("Message %s was not sent at attempt %s: %s", row.pk, row.attempts, reason)
    due.finish(row, due_at=clock.now() + pause_after(row.attempts), last_error=reason[:500])
    return False


def _fail(row: Outbox, reason: str) -> bool:
    log.warning("Message %s failed: %s", row.pk, reason)
    due.finish(row, due_at=None, state=Outbox.State.FAILED, last_error=reason[:500])
    return False
