"""A declaration touches every floor: people, graph, what is watched, who decides. All of it is kept, or none."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from django.contrib.auth.hashers import make_password

from approvals.services import policies
from catalog.models import Domain
from catalog.services import declare as graph
from catalog.services.access import is_agent
from catalog.services.graph_lock import hold_graph
from catalog.sources.declared_file import read_yaml
from foundation import people
from foundation.audit import Actor
from foundation.errors import BadInput, NotAllowed
from foundation.locks import transaction
from foundation.models import Person
from incidents.services.checks import ROW_COUNT, watch

MINUTE: Final = 60
LONGEST_MINUTES: Final = 60 * 24 * 30
OURS: Final = ("people", "assets.watch", "domains.approver", "domains.fallback", "domains.minimum_minutes")
"""The keys that this floor reads; the catalogue reads the others (`catalog.sources.declared`)."""

Entry = Mapping[str, Any]


def declare_file(path: Path, *, actor: Actor) -> dict[str, Any]:
    """Apply a declaration file; people who are new get a password, which is returned once under `sign_ins`.

        people:  [{email, name?, roles?}]
        domains: [{..., approver, fallback, minimum_minutes?}]
        assets:  [{..., watch: [row_count]}]

    Repeating it changes nothing that is already so. Raises BadInput with the place that cannot be used; then nothing of
    the file is kept. A table that is not known yet is listed under `unmatched`, and is not watched.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from None
    return _keep(read_yaml(data, str(path)), actor, with_people=True)


def declare_document(document: object, *, actor: Actor) -> dict[str, Any]:
    """As `declare_file` for what came over a network: it adds no people (NotAllowed), and an agent suggests only."""
    if not isinstance(document, Mapping):
        raise BadInput("A declaration is a mapping with domains, assets, consumers and notes.")
    if document.get("people"):
        raise NotAllowed("People are added on the machine itself (manage.py declare FILE), not over the network.")
    if is_agent(actor) and any(_is_watched(entry) for entry in _list(document, "assets")):
        raise NotAllowed("An agent does not say what is watched.")
    answer = _keep(document, actor, with_people=False)
    return {name: said for name, said in answer.items() if name != "sign_ins"}


def _keep(document: Entry, actor: Actor, *, with_people: bool) -> dict[str, Any]:
    members = _list(document, "people") if with_people else []
    domains, assets = _list(document, "domains"), _list(document, "assets")
    # Names and passwords before the transaction: a writer on SQLite holds everybody up.
    made = _passwords(members)
    prepared = graph.prepare(document, actor=actor, coming=made.keys())
    said = zip(prepared.wanted.assets, assets, strict=True)
    watched = {entry.asset for entry, plain in said if _is_watched(plain)}
    with transaction():
        hold_graph()
        for entry in members:
            _person(entry, made, actor)
        report = graph.keep(prepared, actor=actor).as_dict()
        for named, entry in zip(prepared.wanted.domains, domains, strict=True):
            _policy(named.key, entry, actor)
        for asset, about in prepared.batch.assets:
            if about.asset in watched:
                watch(asset, actor=actor)
    ignored = [name for name in report["ignored"] if name not in OURS]
    return report | {"ignored": ignored, "sign_ins": {email: password for email, (password, _) in made.items()}}


def _passwords(members: list[dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """A password and its hash for each person who is new, by e-mail."""
    known = {email.casefold() for email in Person.objects.values_list("email", flat=True)}
    new = [email for entry in members if (email := _email(entry)).casefold() not in known]
    passwords = {email: secrets.token_urlsafe(12) for email in new}
    return {email: (password, make_password(password)) for email, password in passwords.items()}


def _person(entry: Entry, made: Mapping[str, tuple[str, str]], actor: Actor) -> None:
    email = _email(entry)
    person = Person.objects.filter(email__iexact=email).first()
    if person is None:
        person = people.create_person(email, str(entry.get("name") or email), actor=actor)
        Person.objects.filter(pk=person.pk).update(password=made[email][1])
    for role in _roles(entry):
        people.give_role(person, role, actor=actor)


def _policy(key: str, entry: Entry, actor: Actor) -> None:
    if "approver" not in entry and "fallback" not in entry:
        return
    policies.save_policy(
        Domain.objects.get(key=key),
        approver=_named(entry, "approver"),
        fallback=_named(entry, "fallback"),
        minimum_seconds=_minutes(entry) * MINUTE,
        actor=actor,
    )


def _named(entry: Entry, part: str) -> Person:
    email = entry.get(part)
    if email is None:
        raise BadInput(f"The domain {entry['name']} needs both an approver and a fallback; its {part} is missing.")
    if not isinstance(email, str) or "\0" in email:
        raise BadInput(f"The {part} of the domain {entry['name']} is no e-mail.")
    person = Person.objects.filter(email__iexact=email).first()
    if person is None:
        raise BadInput(f"Nobody has the e-mail {email}, the {part} of the domain {entry['name']}.")
    return person


def _minutes(entry: Entry) -> int:
    minutes = entry.get("minimum_minutes", 30)
    if isinstance(minutes, bool) or not isinstance(minutes, int) or not 1 <= minutes <= LONGEST_MINUTES:
        raise BadInput(f"minimum_minutes of the domain {entry['name']} is a whole number from 1 to {LONGEST_MINUTES}.")
    return minutes


def _is_watched(entry: Entry) -> bool:
    wanted = entry.get("watch") or []
    if wanted not in ([], [ROW_COUNT]):
        raise BadInput(f"watch of {entry.get('asset')} may hold {ROW_COUNT} and nothing else.")
    return bool(wanted)


def _email(entry: Entry) -> str:
    email = entry.get("email")
    if not isinstance(email, str) or not email.strip():
        raise BadInput("Every person needs an email.")
    return email.strip().lower()


def _roles(entry: Entry) -> list[str]:
    roles = entry.get("roles") or []
    if not isinstance(roles, list) or not all(isinstance(role, str) for role in roles):
        raise BadInput(f"The roles of {entry['email']} must be a list of words.")
    return roles


def _list(document: Entry, name: str) -> list[dict[str, Any]]:
    entries = document.get(name) or []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BadInput(f"{name} must be a list of mappings.")
    return entries
