"""Pull requests: noticed because somebody asked, read from their host, given back until the next look.

A row is claimed through `foundation.due`; whoever holds the lease alone writes to it, and finds out when it went to
somebody else (Conflict).
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any, Final, TypeAlias

from django.db.models import F, QuerySet

from catalog import actions
from catalog.code_hosts.github import types as github
from catalog.code_hosts.github.connection import read_settings
from catalog.models import PullRequest
from catalog.services.reviewing.storable import short
from foundation import audit, clock, due
from foundation.audit import Actor
from foundation.errors import BadInput, Conflict
from foundation.locks import transaction
from foundation.models import Connection

LEASE: Final = timedelta(minutes=5)
LARGEST_NUMBER: Final = 2**31
AuditFacts: TypeAlias = dict[str, str | int | None]
"""What an audit row says of a pull request."""


def ask(connection: Connection, number: int, *, actor: Actor) -> PullRequest:
    """Have a pull request looked at now; it is noticed if nobody asked for it before.

    BadInput for a number that no host gives.
    """
    check_number(number)
    with transaction():
        moment = clock.now()
        row, created = PullRequest.objects.get_or_create(
            connection=connection, number=number, defaults={"seen_at": moment, "due_at": moment}
        )
        if created:
            facts: AuditFacts = {"number": number, "repository": repository_of(connection)}
            audit.record(actor, actions.PULL_REQUEST_SEEN, row, facts=facts)
        ask_again(PullRequest.objects.filter(pk=row.pk))
    return row


def check_number(number: int) -> None:
    """BadInput for a number that no host gives."""
    if not 0 < number < LARGEST_NUMBER:
        raise BadInput(f"A pull request has a number from 1 on, not {number}.")


def ask_again(rows: QuerySet[PullRequest]) -> int:
    """Have these looked at now, those too that somebody is looking at; how many there are."""
    return rows.update(asked=F("asked") + 1, due_at=clock.now())


def ask_for_heads(connection: Connection, shas: Collection[str]) -> int:
    """Have the pull requests looked at whose head is one of these commits, as far as they are known here."""
    return ask_again(PullRequest.objects.filter(connection=connection, head_sha__in=list(shas)).exclude(head_sha=""))


def ask_for_base(connection: Connection, branch: str) -> int:
    """Have the open pull requests looked at that are to be merged into this branch."""
    return ask_again(PullRequest.objects.filter(connection=connection, base_ref=branch, state__in=("unread", "open")))


def ask_for_open(connection: Connection) -> int:
    """Have every pull request of a connection looked at that is not over."""
    return ask_again(PullRequest.objects.filter(connection=connection, state__in=("unread", "open")))


def note_read(row: PullRequest, found: github.PullRequest, *, actor: Actor) -> None:
    """Keep what the host says of it now; a change of head or state leaves an audit row. Conflict as `hold`."""
    state = "merged" if found.merged else "open" if found.state == "open" else "closed"
    values = {
        "state": state, "title": short(found.title, 500), "author": short(found.author, 200),
        "url": short(found.url, 500), "head_sha": short(found.head_sha, 64), "head_ref": short(found.head_ref, 300),
        "head_repository": short(found.head_repository, 300), "base_sha": short(found.base_sha, 64),
        "base_ref": short(found.base_ref, 300), "from_fork": found.from_fork,
    }  # fmt: skip
    moved = (row.state, row.head_sha) != (state, values["head_sha"])
    if row.head_sha != values["head_sha"]:
        values |= {"waiting_since": None}
    with transaction():
        hold(row, read_at=clock.now(), **values)
        if moved:
            facts: AuditFacts = {"number": row.number, "repository": repository_of(row.connection)}
            facts |= {"state": state, "head": row.head_sha[:12]}
            audit.record(actor, actions.PULL_REQUEST_READ, row, facts=facts)


def hold(row: PullRequest, **values: Any) -> None:
    """Set `values` while the lease is ours. Conflict, and nothing is changed, when the row went to another worker."""
    ours = PullRequest.objects.filter(pk=row.pk, lease_token=row.lease_token, lease_token__isnull=False)
    if not ours.update(**values):
        raise Conflict(f"The pull request {row.number} went to another worker.")
    for name, value in values.items():
        setattr(row, name, value)


def still_ours(row: PullRequest) -> None:
    """Lengthen the lease before something is sent. Conflict when the row went to another worker."""
    if not due.renew(row, lease=LEASE):
        raise Conflict(f"The pull request {row.number} went to another worker.")


def give_back(row: PullRequest, pause: timedelta | None, **values: Any) -> None:
    """End the look; the next comes after `pause` (None: when somebody asks), at once if somebody asked meanwhile."""
    asked = row.asked
    if due.finish(row, due_at=None if pause is None else clock.now() + pause, **values):
        PullRequest.objects.filter(pk=row.pk).exclude(asked=asked).update(due_at=clock.now())


def repository_of(connection: Connection) -> str:
    """ "owner/name" as the connection has it; its own name where its parameters cannot be read."""
    try:
        return read_settings(connection).full_name
    except BadInput:
        return connection.name


def clones_of(connection: Connection) -> dict[str, str]:
    """The connections to git on this machine that say that they are a clone of this one's repository, with their
    paths, by name."""
    full = repository_of(connection).lower()
    rows = Connection.objects.filter(kind="git", purpose="code").order_by("name")
    mine = [one for one in rows if str(one.params.get("repository", "")).lower() == full]
    return {one.name: str(one.params.get("path", "")) for one in mine}
