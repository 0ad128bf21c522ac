"""What an agent suggests of one asset: a document for the declaration service, which decides what stands.

Nothing here approves anything: what an agent sends waits until a person of the domain answers (D12).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from catalog.names import full_name
from catalog.services.declare import declare
from foundation.audit import Actor
from spellbook.eyes import eyes_of, named

WAITS = "suggested; it waits until a person of the domain approves or refuses it"
COUNTS = f"{WAITS}, and counts in blast radii meanwhile"


def suggest_reader(said: Mapping[str, Any], *, actor: Actor) -> dict[str, Any]:
    """Suggest a reader or a sync; `said` has the keys of a `consumers` entry. BadInput names what cannot be used."""
    return {**_kept({"consumers": [dict(said)]}, actor), "status": COUNTS}


def suggest_definition(asset: str, text: str, *, actor: Actor) -> dict[str, Any]:
    """Suggest what an asset means. NotFound for an unknown asset."""
    return _kept({"assets": [{"asset": _known(asset, actor), "definition": text}]}, actor)


def suggest_note(asset: str, text: str, *, actor: Actor) -> dict[str, Any]:
    """Suggest a note on an asset. NotFound for an unknown asset."""
    return _kept({"notes": [{"asset": _known(asset, actor), "text": text}]}, actor)


def _known(name: str, actor: Actor) -> str:
    """The full name of an asset that the agent's owner may see."""
    return full_name(named(name, eyes_of(actor)))


def _kept(document: Mapping[str, Any], actor: Actor) -> dict[str, Any]:
    return {**declare(document, actor=actor).as_dict(), "status": WAITS}
