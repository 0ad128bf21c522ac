"""Saving who decides for a domain; a policy that nobody could satisfy is refused (I8)."""

from __future__ import annotations

from approvals import actions
from approvals.models import Policy
from approvals.services.autonomy import may_raise
from catalog.models import Domain
from foundation import audit
from foundation.audit import Actor
from foundation.errors import BadInput, NotAllowed
from foundation.locks import lock, transaction
from foundation.models import Person, Principal
from foundation.people import display_name


def save_policy(
    domain: Domain,
    approver: Person,
    fallback: Person,
    minimum_seconds: int = 1800,
    after_damage_seconds: int = 86400,
    required: int = 1,
    *,
    actor: Actor,
) -> Policy:
    """Create or replace the policy of a domain; open requests keep the chain that was frozen into them.

    BadInput when approver and fallback are one person, one is deactivated, or more are required than are named;
    NotAllowed for an agent, or a person who is neither admin nor owner of the domain. The same again changes nothing.
    """
    _require_right(domain, actor)
    _require_satisfiable(approver, fallback, required, minimum_seconds, after_damage_seconds)
    wanted = {
        "approver": approver, "fallback": fallback, "required": required,
        "minimum_seconds": minimum_seconds, "after_damage_seconds": after_damage_seconds,
    }  # fmt: skip
    with transaction():
        lock(Domain.objects.all(), pk=domain.pk)
        policy = Policy.objects.filter(domain=domain).first()
        if policy is not None and all(getattr(policy, name) == value for name, value in wanted.items()):
            return policy
        version = policy.version + 1 if policy else 1
        policy, _ = Policy.objects.update_or_create(domain=domain, defaults={**wanted, "version": version})
        facts: dict[str, str | int | None] = {
            "domain": domain.name,
            "approver": display_name(approver.principal),
            "fallback": display_name(fallback.principal),
            "required": required,
            "version": version,
        }
        audit.record(actor, actions.POLICY_SAVED, policy, facts=facts)
    return policy


def _require_right(domain: Domain, actor: Actor) -> None:
    kind = actor.principal.kind
    if kind == Principal.Kind.AGENT:
        raise NotAllowed("Agents do not say who decides.")
    if kind == Principal.Kind.HUMAN and not may_raise(actor.principal.person, domain):
        raise NotAllowed(f"Only the owner of {domain} or a person with the role admin says who decides there.")


def _require_satisfiable(approver: Person, fallback: Person, required: int, minimum: int, after: int) -> None:
    if approver.pk == fallback.pk:
        raise BadInput("Approver and fallback must be two people.")
    if not (approver.is_active and fallback.is_active):
        raise BadInput("A deactivated person cannot be approver or fallback.")
    if not 1 <= required <= 2:  # guard: I8
        raise BadInput(f"The policy names two people; {required} of them cannot be required.")
    if minimum < 1 or after < 1:
        raise BadInput("Deadlines are at least one second.")
