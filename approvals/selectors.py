"""Reads of this floor: requests, receipts, levels and the alarms that a page or `/readyz` shows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet

from approvals import chain, shown
from approvals.models import AutonomyRule, Checkpoint, LevelChange, Plan, Receipt, Request, Run, Stop
from approvals.services.autonomy import effective_level
from catalog.models import Domain
from foundation.clock import now
from foundation.models import Person
from incidents.models import Incident


def plan_for(incident: Incident) -> Plan | None:
    """The newest revision of an incident's plan, undo plans aside."""
    return Plan.objects.filter(incident=incident, undoes__isnull=True).order_by("-revision").first()


def open_request(plan: Plan) -> Request | None:
    """The request of a plan that waits for a decision."""
    return Request.objects.filter(plan=plan, state="pending").select_related("domain", "plan").first()


def open_requests_for(person: Person) -> list[Request]:
    """The pending requests that wait for this person now, the earliest deadline first."""
    moment = now()
    rows = Request.objects.filter(state="pending", expires_at__gt=moment).select_related("plan__author", "domain")
    return [row for row in rows.order_by("expires_at") if person.pk in deciders(row, moment)]


def deciders(request: Request, moment: datetime | None = None) -> list[int]:
    """Ids of the people whose turn it is at `moment` (default: now)."""
    links = chain.on_turn(request, moment or now(), chain.people_of(request))
    return [int(link["person"]) for link in links]


@dataclass(frozen=True)
class ChainRow:
    """One link of a request's chain as a page shows it; `why_not` says why this person fell out, if they did."""

    person: Person
    starts_at: datetime
    on_turn: bool
    why_not: str


def chain_rows(request: Request) -> list[ChainRow]:
    """The frozen chain with whose turn it is now."""
    people, moment = chain.people_of(request), now()
    turn = {link["person"] for link in chain.on_turn(request, moment, people)} if request.state == "pending" else set()
    return [
        ChainRow(
            people[link["person"]],
            chain.starts_at(request, link),
            link["person"] in turn,
            chain.why_not(people[link["person"]], request.plan),
        )
        for link in request.chain
    ]


def shown_document(request: Request) -> dict[str, Any]:
    """What the request showed when it was made, as frozen."""
    return shown.read(request)


def stop() -> Stop:
    """The stop as it is now (an inactive one when it was never set); for pages, not for claims."""
    return Stop.objects.filter(pk=1).first() or Stop(pk=1, active=False)


def runs_in_flight() -> QuerySet[Run]:
    """Runs that were claimed or started and have not ended."""
    return Run.objects.filter(state__in=("claimed", "running")).select_related("step__plan").order_by("claimed_at")


@dataclass(frozen=True)
class LevelRow:
    """The level of one class in a domain; `step_class` is empty for every class without a rule of its own."""

    step_class: str
    level: int
    proposed: LevelChange | None


def levels(domain: Domain) -> list[LevelRow]:
    """The domain's general level first, then each class with a rule or an open raise of its own."""
    open_raises = {one.step_class: one for one in LevelChange.objects.filter(domain=domain, state="proposed")}
    classes = set(AutonomyRule.objects.filter(domain=domain).values_list("step_class", flat=True)) | open_raises.keys()
    return [
        LevelRow(one, effective_level(domain, [one]), open_raises.get(one)) for one in ["", *sorted(classes - {""})]
    ]


def level_history(domain: Domain) -> QuerySet[LevelChange]:
    """Every change of level in a domain that ended, newest first."""
    ended = LevelChange.objects.filter(domain=domain).exclude(state="proposed")
    return ended.select_related("proposed_by__principal", "seconded_by__principal").order_by("-ended_at", "-pk")


def receipts_of(incident: Incident) -> QuerySet[Receipt]:
    """The receipts of an incident, of its plans and of their steps, oldest first."""
    wanted = Q(type="incident", subject=f"incident/{incident.pk}")
    for pk in incident.plans.values_list("pk", flat=True):
        wanted |= Q(type="plan", subject=f"plan/{pk}") | Q(type="step", subject__startswith=f"step/{pk}/")
    return Receipt.objects.filter(wanted).select_related("leaf").order_by("created_at", "subject")


def sealed_in(receipt: Receipt) -> Checkpoint | None:
    """The first checkpoint that covers a receipt; None while it is not sealed into one."""
    leaf = getattr(receipt, "leaf", None)
    if leaf is None:
        return None
    return Checkpoint.objects.filter(size__gt=leaf.index).order_by("size").first()


def oldest_unsealed_age() -> timedelta | None:
    """How long the oldest receipt has waited for its seal; None when none waits (I14)."""
    oldest = Receipt.objects.filter(envelope__isnull=True).order_by("created_at").first()
    return now() - oldest.created_at if oldest else None
