"""What an asset means: numbered definitions, of which the newest that its domain approved counts; none is rewritten."""

from __future__ import annotations

from typing import Any, Final

from catalog import actions
from catalog.models import Asset, Definition
from catalog.selectors import definition_of, definitions_of
from catalog.services import search_index
from catalog.services.access import person_of, speaks_for
from foundation import audit, clock
from foundation.audit import Actor
from foundation.errors import BadInput
from foundation.locks import lock, transaction
from foundation.models import Person

LONGEST: Final = 10_000


def define(asset: Asset, text: str, *, actor: Actor) -> Definition | None:
    """Keep a new definition; it stands at once when a person of the domain wrote it, else it is a suggestion.

    None when nothing is new: it stands already, or waits, or was refused and is given again by who may not approve it.
    BadInput for an empty or too long text.
    """
    text = text.strip()
    if not text or len(text) > LONGEST or "\0" in text:
        raise BadInput(f"A definition has 1 to {LONGEST} characters.")
    person = _approver(asset, actor)
    with transaction():
        lock(Asset.objects.all(), pk=asset.pk)
        newest = definitions_of(asset).first()
        same = definitions_of(asset).filter(text=text).first()
        if _is_known(same, newest, person):
            return None
        return _add(asset, text, newest.number + 1 if newest else 1, person, actor)


def _approver(asset: Asset, actor: Actor) -> Person | None:
    """The person who acts, if their word is that of the domain; where there is no domain, of who may change it."""
    person = person_of(actor)
    return person if speaks_for(person, asset) else None


def _is_known(same: Definition | None, newest: Definition | None, person: Person | None) -> bool:
    if same is None or newest is None:
        return False
    if person is None:
        return same.status != "standing" or same.number == newest.number or newest.text == same.text
    return same == definition_of(same.asset)


def _add(asset: Asset, text: str, number: int, person: Person | None, actor: Actor) -> Definition:
    moment = clock.now()
    approval: dict[str, Any] = {"approved_by": person, "approved_at": moment} if person else {}
    status = "standing" if person else "suggested"
    row = Definition.objects.create(
        asset=asset, number=number, status=status, text=text, author=actor.principal, created_at=moment, **approval
    )
    if status == "standing":
        search_index.mark_due([asset.pk])
    audit.record(actor, actions.DEFINITION_WRITTEN, row, facts={"asset": asset.name, "status": status})
    return row
