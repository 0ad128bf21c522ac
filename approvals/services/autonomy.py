"""How far Spellbook may go: levels per domain and class, raised by two people, lowered by anybody (D13, I11)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import IntegrityError
from django.db.models import Q

from approvals import actions, levels
from approvals.models import AutonomyRule, LevelChange, Plan, Step
from approvals.scope import domain_of, domains_touched, step_classes
from approvals.services import receipts
from catalog.models import Domain
from foundation import audit
from foundation.audit import Actor
from foundation.clock import now
from foundation.errors import BadInput, Conflict, NotAllowed
from foundation.locks import lock, transaction
from foundation.models import Person, Principal
from foundation.people import has_role
from foundation.refusals import kept

DEFAULT = 1
TOP = 4
AFTER_FAILURE = 2


def effective_level(domain: Domain | None, step_classes: Iterable[str]) -> int:
    """The lowest level (0 to 4) of these classes in a domain; a class without a rule has the domain's, else L1."""
    if domain is None:
        return DEFAULT
    rules = dict(AutonomyRule.objects.filter(domain=domain).values_list("step_class", "level"))
    general = rules.get("", DEFAULT)
    return min((rules.get(one, general) for one in step_classes), default=general)


def plan_level(plan: Plan) -> int:
    """The level that counts for a plan: the lowest over its classes and every domain that it touches."""
    classes = step_classes(plan)
    domains: list[Domain | None] = [*domains_touched(plan)] if domain_of(plan) else [None]
    return min(effective_level(domain, classes) for domain in domains)


def require_person(person: Person, actor: Actor) -> None:
    """NotAllowed unless a person, active at this moment, acts in their own name."""
    fresh = Person.objects.select_related("principal").get(pk=person.pk)
    own_name = actor.principal.pk == fresh.principal_id and actor.principal.kind == Principal.Kind.HUMAN
    if not (own_name and fresh.is_active):  # guard: I11
        raise NotAllowed("Only a signed-in person does this, and only in their own name.")


def may_raise(person: Person, domain: Domain) -> bool:
    """Whether the person holds the right: the role admin, or owner of the domain."""
    owner = domain.owner_id == person.pk or has_role(person, "owner", scope=f"domain:{domain.key}")
    return person.is_active and (owner or has_role(person, "admin"))


def propose_raise(
    domain: Domain, step_class: str, *, person: Person, reason: str, actor: Actor | None = None
) -> LevelChange:
    """Propose to raise one class of a domain (empty: all without a rule of their own) by one level.

    NotAllowed without the right or for work of one's own agent, BadInput without a reason, Conflict at the top,
    without the record that the level asks for, or when a raise is open already.
    """
    actor = actor or Actor(person.principal, "web")
    with kept(actor, actions.LEVEL_REFUSED, domain, {"deed": f"raise {_name(step_class)}"}), transaction():
        lock(Domain.objects.all(), pk=domain.pk)
        old = effective_level(domain, [step_class])
        _require_right(person, domain, step_class, actor)
        if not reason.strip():
            raise BadInput("A raise is proposed with a reason; none was given.")
        if old >= TOP:
            raise Conflict(f"{_name(step_class)} of {domain} is at L{TOP} already.")
        levels.require_record(domain, step_class, old + 1, now())
        change = _open(domain, step_class, old, person, reason)
        facts = _facts(change) | {"reason": change.reason}
        audit.record(actor, actions.RAISE_PROPOSED, change, facts=facts)
    return change


def second_raise(change_id: int, *, person: Person, actor: Actor | None = None) -> LevelChange:
    """Second an open raise and carry it out, with its receipt; the second person is another one with the right."""
    actor = actor or Actor(person.principal, "web")
    target = (LevelChange._meta.label_lower, str(change_id))
    with kept(actor, actions.LEVEL_REFUSED, target, {"deed": "second a raise"}), transaction():
        domain_id = LevelChange.objects.filter(pk=change_id).values_list("domain_id", flat=True).first()
        lock(Domain.objects.all(), pk=domain_id)  # before the change: the order of every lock here
        change = lock(LevelChange.objects.select_related("domain", "proposed_by"), pk=change_id)
        _require_right(person, change.domain, change.step_class, actor)
        if change.proposed_by_id == person.pk:  # guard: I11
            raise NotAllowed("A raise needs a second person; you proposed this one.")
        _require_open(change)
        moment = now()
        done = LevelChange.objects.filter(pk=change.pk, state="proposed")
        if not done.update(state="done", seconded_by=person, ended_at=moment):
            raise Conflict(f"This raise is {change.state} already.")
        change.refresh_from_db()
        audited = audit.record(actor, actions.LEVEL_RAISED, change, facts=_facts(change))
        _receipt(_state(change), f"level/{change.pk}", moment, audited.detail_sha256)
        _apply(change.domain, change.step_class, change.to_level)
    return change


def lower(
    domain: Domain, step_class: str, to: int, *, person: Person, reason: str = "", actor: Actor | None = None
) -> LevelChange:
    """Lower one class of a domain at once; any signed-in person may. An open raise of it is withdrawn.

    BadInput for a level that does not exist, Conflict when the present one is not higher.
    """
    actor = actor or Actor(person.principal, "web")
    with kept(actor, actions.LEVEL_REFUSED, domain, {"deed": f"lower {_name(step_class)}"}), transaction():
        require_person(person, actor)
        lock(Domain.objects.all(), pk=domain.pk)
        old = effective_level(domain, [step_class])
        if not 0 <= to <= TOP:
            raise BadInput(f"Levels go from L0 to L{TOP}.")
        if to >= old:
            raise Conflict(f"{_name(step_class)} of {domain} is at L{old}; L{to} is not lower.")
        moment = now()
        _withdraw(domain, step_class, moment, actor)
        change = LevelChange.objects.create(
            domain=domain, step_class=step_class, from_level=old, to_level=to, state="done", proposed_by=person,
            proposed_at=moment, ended_at=moment, reason=reason.strip()[:500],
        )  # fmt: skip
        facts = _facts(change) | {"reason": change.reason or "no reason given"}
        audited = audit.record(actor, actions.LEVEL_LOWERED, change, facts=facts)
        _receipt(_state(change), f"level/{change.pk}", moment, audited.detail_sha256)
        _apply(domain, step_class, to)
    return change


def after_failure(plan: Plan, *, actor: Actor) -> list[str]:
    """A failed verification or an undo takes each class of the plan that is higher down to L2; returns those."""
    domain = domain_of(plan)
    if domain is None:
        return []
    with transaction():
        lock(Domain.objects.all(), pk=domain.pk)
        high = [one for one in step_classes(plan) if effective_level(domain, [one]) > AFTER_FAILURE]
        for step_class in high:
            _fall(domain, step_class, plan, actor)
    return high


def _fall(domain: Domain, step_class: str, plan: Plan, actor: Actor) -> None:
    moment, old = now(), effective_level(domain, [step_class])
    _withdraw(domain, step_class, moment, actor)
    facts: dict[str, str | int | None] = {
        "domain": domain.name, "step_class": step_class, "old": old, "new": AFTER_FAILURE,
        "reason": "a plan of this class failed or was undone",
    }  # fmt: skip
    audited = audit.record(actor, actions.LEVEL_LOWERED, domain, facts=facts)
    state = {
        "domain": domain.key, "class": step_class, "from": old, "to": AFTER_FAILURE, "plan": str(plan.pk),
        "proposed_by": str(actor.principal.pk), "seconded_by": None,
    }  # fmt: skip
    _receipt(state, f"level/{domain.key}/{step_class}/plan/{plan.pk}"[:200], moment, audited.detail_sha256)
    _apply(domain, step_class, AFTER_FAILURE)


def _require_right(person: Person, domain: Domain, step_class: str, actor: Actor) -> None:
    require_person(person, actor)
    if not may_raise(person, domain):
        raise NotAllowed(f"Only the owner of {domain} or a person with the role admin raises a level there.")
    mine = Step.objects.filter(plan__author__owner=person).filter(
        Q(plan__incident__domain=domain) | Q(plan__incident__asset__domain=domain)
    )
    if (mine.filter(step_class=step_class) if step_class else mine).exists():  # guard: I11
        raise NotAllowed("Nobody raises a level for the work of their own agent.")


def _require_open(change: LevelChange) -> None:
    if change.state != "proposed":
        raise Conflict(f"This raise is {change.state} already.")
    if effective_level(change.domain, [change.step_class]) != change.from_level:
        raise Conflict(f"The level is no longer L{change.from_level}; propose the raise again.")
    levels.require_record(change.domain, change.step_class, change.to_level, now())


def _open(domain: Domain, step_class: str, old: int, person: Person, reason: str) -> LevelChange:
    waiting = LevelChange.objects.filter(domain=domain, step_class=step_class, state="proposed")
    if waiting.exists():
        raise Conflict(f"A raise of {_name(step_class)} of {domain} waits for a second person already.")
    try:
        return LevelChange.objects.create(
            domain=domain, step_class=step_class, from_level=old, to_level=old + 1, proposed_by=person,
            proposed_at=now(), reason=reason.strip()[:500],
        )  # fmt: skip
    except IntegrityError:
        raise Conflict(f"{_name(step_class)} of {domain} cannot be raised from L{old} now.") from None


def _withdraw(domain: Domain, step_class: str, moment: datetime, actor: Actor) -> None:
    for change in LevelChange.objects.filter(domain=domain, step_class=step_class, state="proposed"):
        LevelChange.objects.filter(pk=change.pk, state="proposed").update(state="withdrawn", ended_at=moment)
        facts = _facts(change) | {"reason": "the level was lowered meanwhile"}
        audit.record(actor, actions.RAISE_WITHDRAWN, change, facts=facts)


def _apply(domain: Domain, step_class: str, level: int) -> None:
    """Write the level; the trigger on the table checks a rise against the newest change and its receipt."""
    rule = AutonomyRule.objects.filter(domain=domain, step_class=step_class).first()
    if rule is None:
        AutonomyRule.objects.create(domain=domain, step_class=step_class, level=level)
        return
    AutonomyRule.objects.filter(pk=rule.pk, version=rule.version).update(level=level, version=rule.version + 1)


def _state(change: LevelChange) -> dict[str, Any]:
    return {
        "domain": change.domain.key,
        "class": change.step_class,
        "from": change.from_level,
        "to": change.to_level,
        "proposed_by": str(change.proposed_by.principal_id),
        "seconded_by": str(change.seconded_by.principal_id) if change.seconded_by else None,
    }


def _receipt(state: dict[str, Any], subject: str, moment: datetime, details_sha256: str) -> None:
    descriptor = receipts.of_values(f"{subject}@L{state['to']}", state)
    receipts.write("level", subject, {**state, "details_sha256": details_sha256}, [descriptor], created_at=moment)


def _facts(change: LevelChange) -> dict[str, str | int | None]:
    return {
        "domain": change.domain.name,
        "step_class": _name(change.step_class),
        "old": change.from_level,
        "new": change.to_level,
    }


def _name(step_class: str) -> str:
    return step_class or "every class"
