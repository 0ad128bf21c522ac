"""Events of OpenLineage producers: kept once, answered, then read in batches, each batch one graph version."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import orjson
from django.db.models import QuerySet

from catalog.identity import identities
from catalog.models import LineageEvent
from catalog.services import lineage_batch
from catalog.services.access import permit
from catalog.services.lineage_batch import Told
from catalog.sources.openlineage import events
from catalog.sources.openlineage.events import Event
from catalog.sources.openlineage.facets import table_of
from catalog.sources.openlineage.schema import KINDS, Kind
from foundation import clock, due
from foundation.audit import Actor
from foundation.canonical import sha256_hex
from foundation.errors import BadInput, Busy, SpellbookError, Unavailable
from foundation.locks import transaction

log = logging.getLogger(__name__)

BATCH: Final = 50
FEW: Final = 10
BATCH_BYTES: Final = 10 * 1024 * 1024
BATCH_EDGES: Final = 2_000  # with one more job of the largest, a fraction of half a second on SQLite
LEASE: Final = timedelta(minutes=2)
AGAIN: Final = timedelta(seconds=10)
TRIES: Final = 5
KEPT: Final = timedelta(days=30)
OUR_FAULT: Final = "A fault of ours; the log of the installation has the details."


def receive(documents: Sequence[object], *, actor: Actor) -> int:
    """Keep each event of `documents` (parsed JSON) once and make it due; how many were not here before.

    BadInput when one of them is no event or could not be kept, NotAllowed when one writes outside of the namespaces of
    an agent: then none of them is kept.
    """
    read = [_read(document, place if len(documents) > 1 else None) for place, document in enumerate(documents)]
    _permit(read, actor)
    bodies = [_body(document) for document in documents]
    moment = clock.now()
    rows = {
        (sha256 := sha256_hex(body)): LineageEvent(
            sha256=sha256, body=body, kind=event.kind, run=event.run, at=min(event.at, moment),
            received_at=moment, received_by=actor.principal, due_at=moment,
        )
        for event, body in zip(read, bodies, strict=True)
    }  # fmt: skip
    with transaction():
        known = set(LineageEvent.objects.filter(sha256__in=list(rows)).values_list("sha256", flat=True))
        new = [row for sha256, row in rows.items() if sha256 not in known]
        LineageEvent.objects.bulk_create(new, ignore_conflicts=True, batch_size=50)
    return len(new)


def process_due(limit: int, *, actor: Actor) -> int:
    """Read up to `limit` due events, the longest due first; how many are done with.

    What cannot be used is kept in the event's `refusal`. An event that breaks us is tried alone, five times at most, so
    that it holds up no other.
    """
    done = 0
    while done < limit:
        rows = due.claim(_waiting(), limit=min(BATCH, limit - done), lease=LEASE)
        for mine in _by_sender(rows):
            done += _process(mine, actor)
        if len(rows) < BATCH:
            break
    return done


def forget(limit: int) -> int:
    """Delete up to `limit` events that were read over thirty days ago; what they added up to stays."""
    old = LineageEvent.objects.filter(processed_at__lt=clock.now() - KEPT).values_list("pk", flat=True)[:limit]
    with transaction():
        return LineageEvent.objects.filter(pk__in=list(old)).delete()[0]


def _read(document: object, place: int | None) -> Event:
    try:
        return events.read(document)
    except BadInput as error:
        if place is None:
            raise
        raise BadInput(f"event {place + 1} of the list: {error}") from None


def _body(document: object) -> bytes:
    """The event as it is kept; reading takes more levels than writing does."""
    try:
        return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        raise BadInput("the event is nested too deeply to be kept") from None


def _permit(read: Sequence[Event], actor: Actor) -> None:
    """An agent with namespaces of its own may read from anywhere, and writes and describes only there."""
    written = [dataset for event in read for dataset in event.written]
    names = {name for one in written for name in (one.name, table_of(one.facets)) if name}
    for meant in identities(names).values():
        permit(actor, meant.namespace)


def _waiting() -> QuerySet[LineageEvent]:
    return LineageEvent.objects.defer("body").select_related("received_by")


def _by_sender(rows: Sequence[LineageEvent]) -> list[list[LineageEvent]]:
    """The events of each sender, since a version is the word of one."""
    found: dict[UUID, list[LineageEvent]] = {}
    for row in rows:
        found.setdefault(row.received_by_id, []).append(row)
    return list(found.values())


def _process(rows: Sequence[LineageEvent], actor: Actor) -> int:
    """Read these claimed events of one sender together, else one by one; how many are done with."""
    if not rows:
        return 0
    try:
        taken, refusals = _apply(rows, actor)
    except (Busy, Unavailable):
        return _later(rows)
    except Exception:
        if len(rows) > 1:
            log.exception("%s OpenLineage events could not be read together; each is tried alone", len(rows))
            return sum(_process([row], actor) for row in rows)
        return _broken(rows[0])
    moment = clock.now()
    for row, reason in refusals.items():
        due.finish(row, due_at=None, processed_at=moment, refusal=reason[:500])
    _finish([row for row in taken if row not in refusals], due_at=None, processed_at=moment, refusal="")
    _finish(rows[len(taken) :], due_at=clock.now())
    return len(taken)


def _apply(rows: Sequence[LineageEvent], actor: Actor) -> tuple[list[LineageEvent], Mapping[LineageEvent, str]]:
    """The events that were looked at, as many as fit into one short step, and why some of them say nothing."""
    told: list[Told] = []
    taken: list[LineageEvent] = []
    refusals: dict[LineageEvent, str] = {}
    size = 0
    for row, body in _with_bodies(rows):
        taken.append(row)
        size += len(body)
        try:
            told.append(Told(row, events.read(orjson.loads(body), _kind(row)), Actor(row.received_by, "api")))
        except SpellbookError as error:  # an older version took what this one refuses
            refusals[row] = str(error)
        if size > BATCH_BYTES or _edges(told) > BATCH_EDGES:
            break
    told.sort(key=lambda one: (one.row.at, one.row.sha256))  # claimed together they come in no order
    return taken, refusals | lineage_batch.apply(told, actor=actor)


def _edges(told: Sequence[Told]) -> int:
    return sum(len(one.event.inputs) * len(one.event.outputs) for one in told)


def _kind(row: LineageEvent) -> Kind | None:
    return next((kind for kind in KINDS if kind == row.kind), None)


def _with_bodies(rows: Sequence[LineageEvent]) -> Iterator[tuple[LineageEvent, bytes]]:
    """Each row with its body, a few at a time, since a hundred of the largest would not fit."""
    for start in range(0, len(rows), FEW):
        part = rows[start : start + FEW]
        bodies = dict(LineageEvent.objects.filter(pk__in=[row.pk for row in part]).values_list("pk", "body"))
        yield from ((row, bytes(bodies[row.pk])) for row in part)


def _later(rows: Sequence[LineageEvent]) -> int:
    _finish(rows, due_at=clock.now() + AGAIN)
    return 0


def _finish(rows: Sequence[LineageEvent], **values: Any) -> None:
    """As `due.finish`, for all the rows that one claim took: only what is still ours is given back."""
    for token in {row.lease_token for row in rows if row.lease_token}:
        ours = LineageEvent.objects.filter(pk__in=[row.pk for row in rows], lease_token=token)
        ours.update(lease_until=None, lease_token=None, **values)


def _broken(row: LineageEvent) -> int:
    log.exception("the OpenLineage event %s could not be read", row.sha256)
    if row.attempts < TRIES:
        return _later([row])
    due.finish(row, due_at=None, processed_at=clock.now(), refusal=OUR_FAULT)
    return 1
