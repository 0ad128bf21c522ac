"""Whose eyes a machine or a command reads with: an agent reads what the person who owns it may read (D1, D12)."""

from __future__ import annotations

from functools import cached_property

from catalog.models import Asset
from catalog.models.graph import AssetQuerySet
from catalog.names import find_asset
from foundation.audit import Actor
from foundation.errors import NotAllowed
from foundation.models import Person, Principal
from spellbook.sight import Sight


class Unveiled(Sight):
    """The eyes of whoever runs a command on the machine itself: the whole database is theirs to read anyway."""

    def __init__(self) -> None:
        """Nobody's eyes in particular; only names are asked of them."""

    @cached_property
    def hidden_domains(self) -> frozenset[int]:
        """None."""
        return frozenset()


def eyes_of(actor: Actor) -> Sight:
    """The sight of the person who acts or who owns the agent that does; NotAllowed when there is no such person."""
    if actor.principal.kind == Principal.Kind.SYSTEM:
        return Unveiled()
    person = actor.principal.owner or Person.objects.filter(principal=actor.principal).first()
    if person is None:
        raise NotAllowed("Nobody answers for whoever asks.")
    return Sight(person)


def seen(sight: Sight) -> AssetQuerySet:
    """The assets that these eyes may read the names of."""
    rows: AssetQuerySet = Asset.objects.all() if isinstance(sight, Unveiled) else Asset.objects.visible_to(sight.person)
    return rows


def named(name: str, sight: Sight) -> Asset:
    """The asset that `name` means to these eyes; a hidden one is as unknown as one that does not exist (NotFound)."""
    return find_asset(name, among=seen(sight))
