"""A team's rule that changes of one asset have to be acknowledged: set and lifted by a person of its domain."""

from __future__ import annotations

from django.db import IntegrityError

from catalog import actions
from catalog.models import Asset, PullRequest, ReviewRule
from catalog.services.access import speaks_for
from catalog.services.reviewing import pull_requests
from foundation import audit, clock
from foundation.audit import Actor
from foundation.errors import BadInput, Conflict, NotAllowed
from foundation.locks import lock, transaction
from foundation.models import Person, Principal
from foundation.refusals import kept

LONGEST = 500
TWICE = "There is a rule for this asset already; lift it first."


def set_rule(asset: Asset, reason: str, *, person: Person, actor: Actor) -> ReviewRule:
    """Set the rule. A refused attempt is recorded. BadInput without a reason, NotAllowed for whoever is no person of
    the asset's domain (without a domain: nobody named for it), Conflict when there is a rule."""
    words = " ".join(reason.split())
    facts = {"asset": asset.name, "reason": words[:LONGEST]}
    with kept(actor, actions.REVIEW_RULE_SET, asset, facts):
        if not words or len(words) > LONGEST or "\0" in words:
            raise BadInput(f"Say in 1 to {LONGEST} characters why changes have to be acknowledged.")
        _check_right(asset, person, actor)
        try:
            with transaction():
                lock(Asset.objects.all(), pk=asset.pk)
                if ReviewRule.objects.filter(asset=asset, lifted_at=None).exists():
                    raise Conflict(TWICE)
                made = ReviewRule.objects.create(asset=asset, reason=words, set_by=person, set_at=clock.now())
                pull_requests.ask_again(PullRequest.objects.filter(state="open"))
                audit.record(actor, actions.REVIEW_RULE_SET, asset, facts=facts)
        except IntegrityError:
            raise Conflict(TWICE) from None
    return made


def lift_rule(asset: Asset, reason: str, *, person: Person, actor: Actor, seen: int | None = None) -> None:
    """Lift the asset's rule; it stays in the history, with the reason. `seen` is the rule that the person saw.

    NotAllowed and BadInput as for setting it, Conflict when there is none, or another one than was seen.
    """
    words = " ".join(reason.split())
    facts = {"asset": asset.name, "reason": words[:LONGEST]}
    with kept(actor, actions.REVIEW_RULE_LIFTED, asset, facts):
        if not words or len(words) > LONGEST or "\0" in words:
            raise BadInput(f"Say in 1 to {LONGEST} characters why the rule is lifted.")
        _check_right(asset, person, actor)
        with transaction():
            lock(Asset.objects.all(), pk=asset.pk)
            open_rules = ReviewRule.objects.filter(asset=asset, lifted_at=None)
            if seen is not None and not open_rules.filter(pk=seen).exists():
                raise Conflict("The rule that you saw is lifted already; look at the page again.")
            if not open_rules.update(lifted_at=clock.now(), lifted_by=person):
                raise Conflict("There is no rule for this asset.")
            pull_requests.ask_again(PullRequest.objects.filter(state="open"))
            audit.record(actor, actions.REVIEW_RULE_LIFTED, asset, facts=facts)


def _check_right(asset: Asset, person: Person, actor: Actor) -> None:
    own_name = actor.principal.pk == person.principal_id and actor.principal.kind == Principal.Kind.HUMAN
    if not own_name or not speaks_for(person, asset):
        raise NotAllowed("Only a person of the asset's domain sets or lifts this rule.")
