"""What a principal may write here."""

from __future__ import annotations

from collections.abc import Collection, Sequence

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
    somebody named for it. A handful of queries, however many assets there are (read them with `domain`).
    """
    if not person.is_active or not assets:
        return set()
    roles = set(person.roles.values_list("name", "scope"))
    if ("admin", "") in roles:
        return {asset.pk for asset in assets}
    scopes = {scope for _, scope in roles}
    domains = _domains_of_each(assets)
    free = [pk for pk, own in domains.items() if not own]
    named = AssetRole.objects.filter(asset__in=among(free), person=person, source="declared") if free else ()
    mine = {role.asset_id for role in named}
    return mine | {pk for pk, own in domains.items() if any(_is_of(person, scopes, domain) for domain in own)}


def _is_of(person: Person, scopes: Collection[str], domain: Domain) -> bool:
    return person.pk in (domain.owner_id, domain.on_call_id) or f"domain:{domain.key}" in scopes


def _domains_of_each(assets: Sequence[Asset]) -> dict[int, list[Domain]]:
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
    """Whether `person` may change what is declared of `asset`.

    Who answers for it may, and the people of its roles; anybody where neither a domain nor a person is named yet.
    """
    named = AssetRole.objects.filter(asset=asset, person__isnull=False, source="declared")
    if not domains_of(asset) and not named.exists():
        return person.is_active
    return answers_for(person, asset) or (person.is_active and named.filter(person=person).exists())


def speaks_for(person: Person | None, asset: Asset) -> bool:
    """Whether the word of `person` is that of the asset's domain; where it has none, of who may change it."""
    if person is None:
        return False
    return answers_for(person, asset) or (not domains_of(asset) and may_change(person, asset))
