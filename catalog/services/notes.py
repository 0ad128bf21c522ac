"""Notes: sentences about an asset; an agent's is a suggestion until a person of the domain answers it."""

from __future__ import annotations

from typing import Any, Final

from catalog import actions
from catalog.models import Asset, Note
from catalog.services.access import is_agent, person_of, speaks_for
from foundation import audit, clock
from foundation.audit import Actor
from foundation.errors import BadInput, Conflict, NotAllowed
from foundation.locks import lock, transaction
from foundation.refusals import kept

LONGEST: Final = 10_000


def write(asset: Asset, text: str, *, actor: Actor) -> Note | None:
    """Keep a note; None when it stands already, or when an agent suggests again what was refused.

    A person of the domain who writes what an agent suggested approves it; for anybody else it goes on waiting, and what
    the domain refused stays refused (NotAllowed). BadInput for an empty or too long text, Conflict when that suggestion
    was answered at this moment.
    """
    text = text.strip()
    if not text or len(text) > LONGEST or "\0" in text:
        raise BadInput(f"A note has 1 to {LONGEST} characters.")
    with kept(actor, actions.NOTE_WRITTEN, asset, {"asset": asset.name}), transaction():
        lock(Asset.objects.all(), pk=asset.pk)
        known = Note.objects.filter(asset=asset, text=text).exclude(status="withdrawn").order_by("-pk").first()
        if known is not None and _is_known(known, actor):
            return None
        note = _approved(known, actor) if known is not None and known.status != "refused" else _new(asset, text, actor)
        audit.record(actor, actions.NOTE_WRITTEN, note, facts={"asset": asset.name})
        return note


def withdraw(note: Note, *, actor: Actor) -> None:
    """A note counts no more; it stays to be read in the history.

    NotAllowed for a person who neither answers for the asset nor wrote the note, and for an agent, except of its own
    suggestion that nobody answered yet. Conflict when the note does not stand.
    """
    with kept(actor, actions.NOTE_WITHDRAWN, note, {"asset": note.asset.name}), transaction():
        now = lock(Note.objects.all(), pk=note.pk)
        _check_withdrawal(now, actor)
        if not Note.objects.filter(pk=now.pk, status__in=("standing", "suggested")).update(status="withdrawn"):
            raise Conflict("This note does not stand any more.")
        audit.record(actor, actions.NOTE_WITHDRAWN, now, facts={"asset": now.asset.name})


def _check_withdrawal(note: Note, actor: Actor) -> None:
    own, person = note.author_id == actor.principal.pk, person_of(actor)
    if is_agent(actor) and not (own and note.status == "suggested"):
        raise NotAllowed("An agent withdraws only what it suggested itself and nobody answered yet.")
    if person is not None and not own and not speaks_for(person, note.asset):
        raise NotAllowed("Only a person of its domain, or the one who wrote it, withdraws a note.")


def _is_known(note: Note, actor: Actor) -> bool:
    """Whether the text says nothing new; NotAllowed when saying it would answer a suggestion that others answer."""
    person = person_of(actor)
    if person is None or (note.status == "standing" and note.approved_by_id is not None):
        return True
    if speaks_for(person, note.asset):
        return False
    if note.status != "standing":
        said = "suggested this, and it waits" if note.status == "suggested" else "suggested this, and it was refused"
        raise NotAllowed(f"An agent {said}: only a person of the domain answers it.")
    return True


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
