"""Forgetting a person on every floor: names and salts, and the words that they typed."""

from __future__ import annotations

from approvals.models import LevelChange, Stop, VoteReason
from catalog.models import ReviewAcknowledgement, ReviewRule
from foundation import people
from foundation.audit import Actor
from foundation.locks import transaction
from foundation.models import Person
from incidents.models import Hold

GONE = "erased"


def erase(person: Person, *, actor: Actor) -> None:
    """Drop what a person wrote and what they are called, in one transaction; what they decided stays, under a UUID.

    Raises Conflict when the person was erased before.
    """
    with transaction():
        people.erase(person, actor=actor)
        VoteReason.objects.filter(vote__person=person).delete()
        LevelChange.objects.filter(proposed_by=person).exclude(reason="").update(reason=GONE)
        Stop.objects.filter(changed_by=person).exclude(reason="").update(reason=GONE)
        ReviewAcknowledgement.objects.filter(person=person).update(reason=GONE)
        ReviewRule.objects.filter(set_by=person).update(reason=GONE)
        Hold.objects.filter(operator=person).exclude(answer="").update(answer=GONE)
