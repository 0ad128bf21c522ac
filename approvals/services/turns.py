"""Beginning a turn: the row and its one notice, in the transaction of whoever found that it has begun (I6)."""

from __future__ import annotations

from datetime import datetime

from approvals import actions, chain
from approvals.chain import Link
from approvals.models import Request, Turn
from approvals.scope import timeline_of
from approvals.services.notices import tell
from foundation import audit
from foundation.audit import Actor
from foundation.models import Person
from foundation.people import display_name


def begin(request: Request, moment: datetime, people: dict[int, Person], *, actor: Actor) -> int:
    """Write the turns that have begun and were not told of yet; returns how many. The request must be locked."""
    told = set(request.turns.values_list("position", flat=True))
    new = [link for link in chain.on_turn(request, moment, people) if link["position"] not in told]
    for link in new:
        _begin(request, link, moment, people[link["person"]], actor)
    return len(new)


def _begin(request: Request, link: Link, moment: datetime, person: Person, actor: Actor) -> None:
    Turn.objects.create(
        request=request, position=link["position"], person=person, starts_at=moment, told_at=moment
    )  # UNIQUE(request, position) keeps the notice single
    where = tell(request, f"turn:{link['position']}", {"person": str(person.principal_id)})
    facts = {"person": display_name(person.principal), "plan": request.plan.title, "where": where}
    audit.record(actor, actions.TURN_STARTED, request, correlation_id=timeline_of(request.plan), facts=facts)
