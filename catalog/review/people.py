"""Whom to ask about a change, each person once with the strongest reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from catalog.review.estate.estate import Vertex
from catalog.review.reader_name import named
from catalog.review.types import KnownDomain, Person, Reached

_ROLES = (("owner", "owns"), ("operator", "operates"), ("business_owner", "owns in the business"),
             ("on_call", "is on call for"), ("tool_admin", "administers the tool of"))  # fmt: skip
_WEIGHTS = {"operator": 0, "business_owner": 1, "owner": 1}
APPROVES, OWNS, OPERATES = 0, 1, 2
"""Ranks of reasons: the lower the stronger."""


def whom_to_ask(vertex: Vertex, readers: Iterable[Reached], domains: Iterable[KnownDomain]) -> tuple[Person, ...]:
    """The people around a change of the table `vertex`: who approves in its domain, who owns it, who runs its readers.

    The strongest reason first; people of the same rank in the order in which their readers are harmed.
    """
    ranked = sorted(_all(vertex, list(readers), list(domains)), key=lambda one: one[0])
    return once(person for _, person in ranked)


def once(people: Iterable[Person]) -> tuple[Person, ...]:
    """Each person once, with the first reason."""
    found: dict[str, Person] = {}
    for person in people:
        if person.name.strip():
            found.setdefault(person.name.strip().casefold(), person)
    return tuple(found.values())


def domain_of(vertex: Vertex, domains: Iterable[KnownDomain]) -> KnownDomain | None:
    """The domain of a table; None where nobody says one that is known."""
    said = [asset.domain for asset in vertex.assets if asset.domain]
    wanted = {name.casefold() for name in said[:1]}
    return next((one for one in domains if {one.key.casefold(), one.name.casefold()} & wanted), None)


def _all(vertex: Vertex, readers: list[Reached], domains: list[KnownDomain]) -> Iterator[tuple[int, Person]]:
    domain = domain_of(vertex, domains)
    if domain is not None:
        approvers = [(name, f"approves changes in {domain.name}") for name in domain.approvers]
        for name, why in [*approvers, (domain.owner, f"owns the domain {domain.name}")]:
            yield APPROVES, Person(name, why)
    yield from _of_table(vertex)
    for reader in readers:
        what = f"the {named(reader)}"
        for rank, (role, verb) in enumerate(_ROLES):
            weight = OPERATES + _WEIGHTS.get(role, 2 + rank)
            yield from ((weight, Person(name, f"{verb} {what}")) for name in reader.people.get(role, ()))


def _of_table(vertex: Vertex) -> Iterator[tuple[int, Person]]:
    for asset in vertex.assets:
        for role, verb in _ROLES:
            weight = OWNS if role == "owner" else OPERATES
            yield from ((weight, Person(name, f"{verb} {vertex.label}")) for name in asset.people.get(role, ()))
