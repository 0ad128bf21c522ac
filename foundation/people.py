"""Principals, the people behind them, and their rights: added, deactivated, erased, never deleted."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Iterable, Sequence

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError
from django.db.models import Q, QuerySet

from foundation import clock
from foundation.audit import Actor, record, register
from foundation.errors import BadInput, Conflict
from foundation.locks import transaction
from foundation.models import AuditDetail, Person, Principal, PrincipalName, Role, Token
from foundation.roles import give_role, has_role, take_role
from foundation.tokens import issue_token, principal_for_token, revoke_token

__all__ = [
    "create_agent",
    "create_person",
    "deactivate",
    "display_name",
    "erase",
    "give_role",
    "has_role",
    "issue_token",
    "principal_for_token",
    "reactivate",
    "revoke_token",
    "system",
    "take_role",
]

ERASED_NAME = "erased person"
CREATED = register("person.created", "Person added", "was added")
AGENT_CREATED = register("agent.created", "Agent added", "added the agent {agent}")
DEACTIVATED = register("person.deactivated", "Person deactivated", "deactivated this person and their agents' tokens")
REACTIVATED = register("person.reactivated", "Person reactivated", "reactivated this person")
ERASED = register("person.erased", "Person erased", "erased the name, the address and the words of this person")

_SYSTEM_NAMES = uuid.UUID("6f6f2a0c-64ae-5b3b-9c39-2f0a2c3f1c55")


def create_person(
    email: str, name: str, *, password: str | None = None, roles: Iterable[str] = (), actor: Actor | None = None
) -> Person:
    """Add a person with their human principal; without a password nobody can sign in as them by one.

    Raises BadInput for a bad address, name or password (Django's validators), Conflict when the address is taken.
    """
    email = _email(email)
    person = Person(email=email, is_active=True)
    _set_password(person, password)
    with transaction():
        if Person.objects.filter(email=email).exists():
            raise Conflict(f"There is already a person with the address {email}.")
        person.principal = _named(Principal(kind=Principal.Kind.HUMAN), name)
        try:
            person.save()
        except IntegrityError:  # somebody added the same address at the same moment
            raise Conflict(f"There is already a person with the address {email}.") from None
        record(actor or Actor(person.principal, "cli"), CREATED, person)
        for role in roles:
            give_role(person, role, actor=actor or Actor(person.principal, "cli"))
    return person


def create_agent(name: str, *, owner: Person, namespaces: Sequence[str] = (), actor: Actor | None = None) -> Principal:
    """Add an agent that answers to `owner` and may write only in `namespaces`.

    BadInput for a bad name or an inactive owner.
    """
    if not owner.is_active:
        raise BadInput("The owner of an agent must be an active person.")
    agent = Principal(kind=Principal.Kind.AGENT, owner=owner, namespaces=list(namespaces))
    with transaction():
        _named(agent, name)
        record(actor or Actor(owner.principal, "cli"), AGENT_CREATED, agent, facts={"agent": name.strip()})
    return agent


def system(name: str) -> Principal:
    """The one system principal of that name, such as "conductor"; made on first use, with the same UUID everywhere."""
    key = uuid.uuid5(_SYSTEM_NAMES, name)
    found = Principal.objects.filter(pk=key).first()
    if found is not None:
        return found
    with transaction():
        principal, created = Principal.objects.get_or_create(
            pk=key, defaults={"kind": Principal.Kind.SYSTEM, "created_at": clock.now()}
        )
        if created:
            PrincipalName.objects.create(principal=principal, name=_name(name), salt=secrets.token_bytes(32))
    return principal


def display_name(principal: Principal | uuid.UUID) -> str:
    """The name, or "erased person". One query, none when the principal came with `select_related("name_row")`."""
    if isinstance(principal, Principal):
        try:
            return principal.name_row.name
        except PrincipalName.DoesNotExist:
            return ERASED_NAME
    named = PrincipalName.objects.filter(principal_id=principal).first()
    return named.name if named else ERASED_NAME


def deactivate(person: Person, *, actor: Actor) -> None:
    """From this commit the person cannot sign in, and neither their tokens nor their agents' count.

    Conflict when already so.
    """
    _set_active(person, False, actor)


def reactivate(person: Person, *, actor: Actor) -> None:
    """Undo `deactivate`. Conflict when the person is active or erased."""
    if not PrincipalName.objects.filter(principal_id=person.principal_id).exists():
        raise Conflict("An erased person cannot be reactivated.")
    _set_active(person, True, actor)


def erase(person: Person, *, actor: Actor) -> None:
    """Forget the person: name, salt, address, password and the details of what they did or what was done to them.

    The UUID stays.

    Their tokens and their agents' tokens are revoked and roles dropped. Conflict when already erased.
    """
    with transaction():
        if not PrincipalName.objects.filter(principal_id=person.principal_id).delete()[0]:
            raise Conflict("This person is erased already.")
        person.email = f"{person.principal_id}@erased.invalid"
        person.is_active = person.is_staff = False
        person.set_unusable_password()
        person.last_login = None
        person.save()
        principals = Q(principal_id=person.principal_id) | Q(principal__owner=person)
        Token.objects.filter(principals, revoked_at__isnull=True).update(revoked_at=clock.now())
        Token.objects.filter(principal_id=person.principal_id).update(label="")
        Role.objects.filter(person=person).delete()
        _details_of(person).delete()
        record(actor, ERASED, person)


def _details_of(person: Person) -> QuerySet[AuditDetail]:
    about = Q(audit__target_type=person._meta.label_lower, audit__target_id=str(person.pk)) | Q(
        audit__target_type=Principal._meta.label_lower, audit__target_id=str(person.principal_id)
    )
    return AuditDetail.objects.filter(Q(audit__principal_id=person.principal_id) | about)


def _set_active(person: Person, active: bool, actor: Actor) -> None:
    with transaction():
        if not Person.objects.filter(pk=person.pk, is_active=not active).update(is_active=active):
            raise Conflict(f"This person is {'active' if active else 'deactivated'} already.")
        record(actor, REACTIVATED if active else DEACTIVATED, person)
    person.is_active = active


def _named(principal: Principal, name: str) -> Principal:
    principal.created_at = clock.now()
    principal.save(force_insert=True)
    PrincipalName.objects.create(principal=principal, name=_name(name), salt=secrets.token_bytes(32))
    return principal


def _name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > 200 or not name.isprintable():
        raise BadInput("A name has 1 to 200 printable characters.")
    return name


def _email(email: str) -> str:
    email = email.strip().lower()
    try:
        validate_email(email)
    except ValidationError:
        raise BadInput("This is not an e-mail address.") from None
    if len(email) > 254:
        raise BadInput("This is not an e-mail address.")
    return email


def _set_password(person: Person, password: str | None) -> None:
    if password is not None:
        try:
            validate_password(password, person)
        except ValidationError as error:
            raise BadInput(" ".join(error.messages)) from None
    person.set_password(password)  # None makes it unusable
