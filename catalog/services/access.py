"""What a principal may write here."""

from __future__ import annotations

from catalog.models import Asset, AssetRole, Domain, EdgeClaim
from catalog.models.graph import AssetQuerySet
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


def pool_of(actor: Actor) -> AssetQuerySet | None:
    """The assets that the one who acts may name (an agent: those of its owner); None, all of them, for systems."""
    person = actor.principal.owner or person_of(actor)
    return Asset.objects.visible_to(person) if person is not None else None


def domains_of(asset: Asset) -> list[Domain]:
    """The domains that answer for an asset: its own, else (a reader that nobody took yet) those of what it reads."""
    if asset.domain is not None:
        return [asset.domain]
    read = EdgeClaim.objects.filter(to_asset=asset, removed_in__isnull=True).values("from_asset__domain")
    return list(Domain.objects.filter(pk__in=read))


def answers_for(person: Person, asset: Asset) -> bool:
    """Whether `person` is a person of the asset's domain: the one place that says who that is.

    Its owner, its on-call person, who has a role in it, an admin; for an asset without any domain the people whom
    somebody named for it.
    """
    if not person.is_active:
        return False
    domains = domains_of(asset)
    scopes = {"", *(f"domain:{domain.key}" for domain in domains)}
    names = person.roles.filter(scope__in=scopes).values_list("name", "scope")
    if any(scope or name == "admin" for name, scope in names):
        return True
    if domains:
        return any(person.pk in (domain.owner_id, domain.on_call_id) for domain in domains)
    return AssetRole.objects.filter(asset=asset, person=person, source="declared").exists()


def may_change(person: Person, asset: Asset) -> bool:
    """Whether `person` may change what is declared of `asset`.

    Who answers for it may, and the people of its roles; anybody where neither a domain nor a person is named yet.
    """
    named = AssetRole.objects.filter(asset=asset, person__isnull=False, source="declared")
    if not domains_of(asset) and not named.exists():
        return person.is_active
    return answers_for(person, asset) or (person.is_active and named.filter(person=person).exists())
