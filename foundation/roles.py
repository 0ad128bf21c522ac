"""Named rights of people, everywhere or in one scope: given, taken, asked for."""

from __future__ import annotations

from foundation.audit import Actor, record, register
from foundation.errors import BadInput, Conflict
from foundation.locks import transaction
from foundation.models import Person, Role

ROLE_GIVEN = register("role.given", "Role given", "gave the role {role} ({scope})")
ROLE_TAKEN = register("role.taken", "Role taken", "took the role {role} ({scope})")


def give_role(person: Person, name: str, *, scope: str = "", actor: Actor) -> None:
    """Give a role everywhere or in `scope`; nothing happens, and nothing is recorded, when the person has it."""
    if not name or len(name) > 60 or len(scope) > 200:
        raise BadInput("A role has a name of at most 60 characters and a scope of at most 200.")
    with transaction():
        _, created = Role.objects.get_or_create(person=person, name=name, scope=scope)
        if created:
            record(actor, ROLE_GIVEN, person, facts={"role": name, "scope": scope or "everywhere"})


def take_role(person: Person, name: str, *, scope: str = "", actor: Actor) -> None:
    """Take exactly this role away. Conflict when the person does not have it."""
    with transaction():
        if not Role.objects.filter(person=person, name=name, scope=scope).delete()[0]:
            raise Conflict(f"This person does not have the role {name}.")
        record(actor, ROLE_TAKEN, person, facts={"role": name, "scope": scope or "everywhere"})


def has_role(person: Person, name: str, *, scope: str = "") -> bool:
    """Whether an active person has the role everywhere or in `scope`."""
    return person.is_active and Role.objects.filter(person=person, name=name, scope__in={"", scope}).exists()
