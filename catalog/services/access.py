"""What a principal may write here."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from django.db.models import prefetch_related_objects

from catalog.models import Asset, AssetRole, Domain, EdgeClaim
from catalog.models.graph import AssetQuerySet
from foundation.audit import Actor
from foundation.bulk import among
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


def pool_of(actor: Actor) -> AssetQuerySet | None:
    """The assets that the one who acts may name (an agent: those of its owner); None, all of them, for systems."""
    person = actor.principal.owner or person_of(actor)
    return Asset.objects.visible_to(person) if person is not None else None


def domains_of(asset: Asset) -> list[Domain]:
    """The domains that answer for an asset: its own, else (a reader that nobody took yet) those of what it reads."""
    return _domains_of_each([asset])[asset.pk]


def answers_for(person: Person, asset: Asset) -> bool:
    """Whether `person` is a person of the asset's domain; see `answered_by`."""
    return bool(answered_by(person, [asset]))


def answered_by(person: Person, assets: Sequence[Asset]) -> set[int]:
    """The ids of those of `assets` for which `person` is a person of the domain: the one place that says who that is.

    Its owner, its on-call person, who has a role in it, an admin; for an asset without any domain the people whom
    somebody named for it. A handful of queries, however many assets there are.
    """
    return _answered(person, _domains_of_each(assets)) if person.is_active and assets else set()


def _answered(person: Person, domains: Mapping[int, Sequence[Domain]]) -> set[int]:
    roles = set(person.roles.values_list("name", "scope"))
    if ("admin", "") in roles:
        return set(domains)
    scopes = {scope for _, scope in roles}
    free = [pk for pk, own in domains.items() if not own]
    named = AssetRole.objects.filter(asset__in=among(free), person=person, source="declared") if free else ()
    mine = {role.asset_id for role in named}
    return mine | {pk for pk, own in domains.items() if any(_is_of(person, scopes, domain) for domain in own)}


def _is_of(person: Person, scopes: Collection[str], domain: Domain) -> bool:
    return person.pk in (domain.owner_id, domain.on_call_id) or f"domain:{domain.key}" in scopes


def _domains_of_each(assets: Sequence[Asset]) -> dict[int, list[Domain]]:
    prefetch_related_objects(assets, "domain")
    found = {asset.pk: [asset.domain] if asset.domain is not None else [] for asset in assets}
    free = [pk for pk, own in found.items() if not own]
    if free:
        read = EdgeClaim.objects.filter(to_asset__in=among(free), removed_in__isnull=True)
        pairs = set(read.exclude(from_asset__domain=None).values_list("to_asset_id", "from_asset__domain"))
        domains = Domain.objects.in_bulk({domain for _, domain in pairs}) if pairs else {}
        for pk, domain in sorted(pairs, key=lambda pair: domains[pair[1]].key):
            found[pk].append(domains[domain])
    return found


def may_change(person: Person, asset: Asset) -> bool:
    """Whether `person` may change what is declared of `asset`; see `changed_by`."""
    return bool(changed_by(person, [asset]))


def changed_by(person: Person, assets: Sequence[Asset]) -> set[int]:
    """The ids of those of `assets` of which `person` may change what is declared, with a handful of queries.

    Who answers for an asset may, and the people of its roles; anybody where neither a domain nor a person is named yet.
    """
    if not person.is_active or not assets:
        return set()
    domains = _domains_of_each(assets)
    return _answered(person, domains) | _named_or_free(person, domains)


def speaks_for(person: Person | None, asset: Asset) -> bool:
    """Whether the word of `person` is that of the asset's domain; see `spoken_for_by`."""
    return bool(spoken_for_by(person, [asset]))


def spoken_for_by(person: Person | None, assets: Sequence[Asset]) -> set[int]:
    """The ids of those of `assets` for whose domain the word of `person` counts; where an asset has none, of who may
    change it. A handful of queries."""
    if person is None or not person.is_active or not assets:
        return set()
    domains = _domains_of_each(assets)
    return _answered(person, domains) | {pk for pk in _named_or_free(person, domains) if not domains[pk]}


def _named_or_free(person: Person, domains: Mapping[int, Sequence[Domain]]) -> set[int]:
    """The assets for which somebody named `person` in whatever role, and those of which nobody says whose they are."""
    rows = AssetRole.objects.filter(asset__in=among(list(domains)), person__isnull=False, source="declared")
    people: dict[int, set[int | None]] = {pk: set() for pk in domains}
    for pk, one in rows.values_list("asset_id", "person_id"):
        people[pk].add(one)
    return {pk for pk, own in domains.items() if person.pk in people[pk] or not (own or people[pk])}
