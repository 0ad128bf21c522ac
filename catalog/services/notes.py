"""Notes: sentences about an asset; an agent's is a suggestion until a person of the domain answers it."""

from __future__ import annotations

from typing import Any, Final

from catalog import actions
from catalog.models import Asset, Note
from catalog.services.access import is_agent, person_of
from foundation import audit, clock
from foundation.audit import Actor
from foundation.errors import BadInput, Conflict, NotAllowed
from foundation.locks import lock, transaction

LONGEST: Final = 10_000


def write(asset: Asset, text: str, *, actor: Actor) -> Note | None:
    """Keep a note; None when it stands already, or when an agent suggests again what was refused.

    A person who writes what an agent suggested approves it. BadInput for an empty or too long text, Conflict when
    that suggestion was answered at this moment.
    """
    text = text.strip()
    if not text or len(text) > LONGEST or "\0" in text:
        raise BadInput(f"A note has 1 to {LONGEST} characters.")
    with transaction():
        lock(Asset.objects.all(), pk=asset.pk)
        known = Note.objects.filter(asset=asset, text=text).exclude(status="withdrawn").order_by("-pk").first()
        if known is not None and _is_known(known, actor):
            return None
        note = _approved(known, actor) if known is not None and known.status != "refused" else _new(asset, text, actor)
        audit.record(actor, actions.NOTE_WRITTEN, note, facts={"asset": asset.name})
        return note


def withdraw(note: Note, *, actor: Actor) -> None:
    """A note counts no more; it stays to be read in the history. Conflict when it does not stand, NotAllowed for an
    agent that did not write it."""
    if is_agent(actor) and note.author_id != actor.principal.pk:
        raise NotAllowed("An agent withdraws no note of others.")
    with transaction():
        standing = Note.objects.filter(pk=note.pk, status__in=("standing", "suggested"))
        if not standing.update(status="withdrawn"):
            raise Conflict("This note does not stand any more.")
        audit.record(actor, actions.NOTE_WITHDRAWN, note, facts={"asset": note.asset.name})


def _is_known(note: Note, actor: Actor) -> bool:
    if person_of(actor) is None:
        return True
    return note.status == "standing" and note.approved_by_id is not None


def _approved(note: Note, actor: Actor) -> Note:
    approval = {"status": "standing", "approved_by": person_of(actor), "approved_at": clock.now()}
    if not Note.objects.filter(pk=note.pk, status=note.status).update(**approval):
        raise Conflict("This note was answered or withdrawn meanwhile; look at it again.")
    return Note.objects.get(pk=note.pk)


def _new(asset: Asset, text: str, actor: Actor) -> Note:
    moment, person = clock.now(), person_of(actor)
    approval: dict[str, Any] = {"approved_by": person, "approved_at": moment} if person else {}
    status = "suggested" if is_agent(actor) else "standing"
    return Note.objects.create(
        asset=asset, text=text, status=status, author=actor.principal, created_at=moment, **approval
    )
