"""Who may decide and whose turn it is: from the frozen chain and a moment, never from what a sweep did (I3, I5)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from approvals.models import Plan, Policy, Request
from foundation.models import Person, Principal

Link = dict[str, Any]


def why_not(person: Person, plan: Plan) -> str:
    """Why this person may never decide on this plan, in a few words; empty when nothing speaks against it."""
    if person.principal.kind != Principal.Kind.HUMAN:
        return "only people decide"
    if not person.is_active:  # guard: I3
        return "is deactivated"
    author = plan.author
    if author.pk == person.principal_id:  # guard: I3
        return "wrote the plan"
    if author.kind == Principal.Kind.AGENT and author.owner_id == person.pk:  # guard: I3
        return "owns the agent that wrote the plan"
    return ""


def build(policy: Policy, plan: Plan, life: timedelta) -> list[Link]:
    """The frozen chain: approver, then fallback at half of the request's life; as many start at once as must agree.

    People who may not decide on this plan are left out, so the first who may is asked at once. Empty when nobody may.
    """
    people = [person for person in (policy.approver, policy.fallback) if not why_not(person, plan)]
    half = int(life.total_seconds()) // 2
    return [
        {
            "position": position,
            "person": person.pk,
            "principal": str(person.principal_id),
            "starts_after_seconds": 0 if position <= policy.required else half,
        }
        for position, person in enumerate(people, 1)
    ]


def people_of(request: Request) -> dict[int, Person]:
    """The people that the chain names, as they are now, by id."""
    ids = [link["person"] for link in request.chain]
    return Person.objects.select_related("principal").in_bulk(ids)


def starts_at(request: Request, link: Link) -> datetime:
    """When this link's turn begins; time that a stop took out does not count."""
    return request.created_at + timedelta(seconds=request.frozen_seconds + int(link["starts_after_seconds"]))


def eligible(request: Request, people: dict[int, Person]) -> list[Link]:
    """The links whose people may still decide."""
    return [link for link in request.chain if not why_not(people[link["person"]], request.plan)]


def on_turn(request: Request, moment: datetime, people: dict[int, Person]) -> list[Link]:
    """The links that decide at this moment: the newest started ones, as many as must agree.

    Where a person fell out, the next who may decide is on turn at once. Shorter than `required` when too few are left.
    """
    may = eligible(request, people)
    started = [link for link in may if starts_at(request, link) <= moment]
    if len(started) < request.required:
        started = may[: request.required]
    return started[-request.required :]


def next_turn(request: Request, moment: datetime, people: dict[int, Person]) -> datetime | None:
    """When the next link's turn begins; None when all have begun."""
    coming = [starts_at(request, link) for link in eligible(request, people)]
    return min((at for at in coming if at > moment), default=None)


def named(request: Request, person: Person) -> Sequence[Link]:
    """The links that name this person."""
    return [link for link in request.chain if link["person"] == person.pk]
