"""Deliveries of a code host's webhook: verified on the raw body, stored once, answered, then read.

A delivery says only where to look. What stands there is read from the host, so that a replay changes nothing. Once it
is read its body is dropped: the hash of it and the id are enough to know it again.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from django.db import IntegrityError

from catalog.code_hosts.github import webhook
from catalog.code_hosts.github.client import open_github
from catalog.code_hosts.github.connection import KIND, PURPOSE, read_settings, webhook_secrets
from catalog.models import ReviewDelivery
from catalog.services.reviewing import pull_requests
from foundation import clock, due, inbox
from foundation.audit import Actor
from foundation.canonical import sha256_hex
from foundation.errors import BadInput, Busy, NotAllowed, SpellbookError, Unavailable
from foundation.locks import transaction
from foundation.models import Connection, Inbox

log = logging.getLogger(__name__)

SOURCE: Final = "github:"
LEASE: Final = timedelta(minutes=2)
SOON: Final = timedelta(seconds=30)
REFUSED: Final = "No webhook of this installation fits this address and signature."
"""One answer for all that is not verified: it tells nobody which connections there are."""
KEPT_HEADERS: Final = ("x-github-event", "x-github-delivery", "x-github-hook-id", "content-type")


def receive(name: str, body: bytes, headers: Mapping[str, str]) -> bool:
    """Store a delivery to the connection `name` and make it due; False for one that was here before, by its content or
    by its id.

    NotAllowed, with one sentence whatever the reason, when no secret of that connection signed the body; BadInput for a
    signed one without a delivery id.
    """
    given = {key.lower(): value for key, value in headers.items()}
    connection = _verified(name, body, given.get("x-hub-signature-256"))
    delivery = given.get("x-github-delivery", "").strip()
    if not 0 < len(delivery) <= 100 or not delivery.isprintable():
        raise BadInput("A delivery needs an id of at most 100 characters in X-GitHub-Delivery.")
    kept: dict[str, str] = {key: given[key] for key in KEPT_HEADERS if key in given}
    try:
        with transaction():
            if ReviewDelivery.objects.filter(connection=connection, delivery=delivery).exists():
                return False
            row, created = inbox.receive(
                source=f"{SOURCE}{connection.pk}", external_id=f"sha256:{sha256_hex(body)}", body=body, headers=kept
            )
            if created:
                ReviewDelivery.objects.create(connection=connection, delivery=delivery, inbox=row)
            return created
    except IntegrityError:  # the same delivery at the same moment; that row is there now
        return False


def read_due(limit: int, *, actor: Actor) -> int:
    """Read the deliveries that are due and have the pull requests looked at that they name; how many there were."""
    rows = due.claim(Inbox.objects.filter(source__startswith=SOURCE), limit=limit, lease=LEASE)
    return due.each(rows, lambda row: _read(row, actor))


def _verified(name: str, body: bytes, signature: str | None) -> Connection:
    connection = (
        Connection.objects.filter(name=name, kind=KIND, purpose=PURPOSE).first() if name.isprintable() else None
    )
    for secret in _secrets(connection):
        try:
            webhook.verify(secret, body, signature)
        except (NotAllowed, BadInput):
            continue
        if connection is not None:
            return connection
    raise NotAllowed(REFUSED)


def _secrets(connection: Connection | None) -> list[str]:
    """The secrets to try; one that fits nothing for an unknown name, so that the answer takes as long."""
    if connection is None:
        return ["no connection has this name"]
    try:
        return webhook_secrets(read_settings(connection))
    except SpellbookError as error:
        log.warning("A webhook of the connection %s came and cannot be verified: %s", connection.name, error)
        return []


def _read(row: Inbox, actor: Actor) -> bool:
    """Do what one delivery asks for. What cannot be read is refused for good; what the host must be asked for and does
    not answer comes again."""
    connection = Connection.objects.filter(pk=row.source.removeprefix(SOURCE), kind=KIND).first()
    try:
        refusal = "the connection is gone" if connection is None else _asked(row, connection, actor)
    except (Busy, Unavailable):
        due.finish(row, due_at=clock.now() + SOON)
        return False
    except SpellbookError as error:
        refusal = str(error)
    return due.finish(row, due_at=None, processed_at=clock.now(), refusal=refusal[:500], body=b"")


def _asked(row: Inbox, connection: Connection, actor: Actor) -> str:
    """Why nothing was asked for; "" when something was."""
    event = webhook.parse(str(row.headers.get("x-github-event", "")), bytes(row.body))
    ours = pull_requests.repository_of(connection)
    if event.repository and event.repository.lower() != ours.lower():
        return f"It tells of the repository {event.repository}, and this connection is for {ours}."
    if not event.relevant:
        return ""
    if event.name == "installation":
        pull_requests.ask_for_open(connection)  # what our App may do has changed
        return ""
    for number in event.numbers:
        pull_requests.ask(connection, number, actor=actor)
    if event.branch:
        pull_requests.ask_for_base(connection, event.branch)
    elif event.head_sha and not event.numbers:
        _ask_for_head(connection, event.head_sha, actor)
    return ""


def _ask_for_head(connection: Connection, sha: str, actor: Actor) -> None:
    """GitHub names no pull request of a fork in events of checks and workflows: those known here, else its list."""
    if pull_requests.ask_for_heads(connection, [sha]):
        return
    with open_github(connection) as github:
        for found in github.pull_requests_of(sha):
            pull_requests.ask(connection, found.number, actor=actor)
