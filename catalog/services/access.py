"""What a principal may write here."""

from __future__ import annotations

from foundation.audit import Actor
from foundation.errors import NotAllowed
from foundation.models import Person, Principal


def permit(actor: Actor, namespace: str) -> None:
    """NotAllowed when the principal is an agent that may write in certain namespaces only, and this is none of them."""
    allowed = actor.principal.namespaces
    if actor.principal.kind == Principal.Kind.AGENT and allowed and namespace not in allowed:
        raise NotAllowed(f"This agent may not write in {namespace}.")


def is_agent(actor: Actor) -> bool:
    return bool(actor.principal.kind == Principal.Kind.AGENT)


def person_of(actor: Actor) -> Person | None:
    """The human who acts; None for agents and systems."""
    return Person.objects.filter(principal=actor.principal).first()
