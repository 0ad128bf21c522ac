"""The order of an incident's life, in two tables; the only module that knows it.

A stage says from the rows alone whether it is next, and names one idempotent service call. One look does at most one
thing; a crash between two looks costs nothing but time, since the next look sees the same rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from approvals.models import Draft, Plan
from approvals.models.plans import WAITING_PLANS
from approvals.selectors import plan_for
from approvals.services import acting, ask, closing, draft, incident_receipt, rehearse, undo, verify, would_do
from approvals.services.autonomy import effective_level, plan_level
from foundation import people
from foundation.audit import Actor
from incidents.diagnosis import diagnose
from incidents.models import Cause, Damage, Incident
from incidents.recovery import counted, right_again
from incidents.services import confirm, damage, progress

OBSERVE, PROPOSE = 1, 2
BEFORE_ACTING = (*WAITING_PLANS, "rejected", "expired", "superseded")


def conductor() -> Actor:
    """The system principal that acts here; it can do all of this, and approve nothing (I4)."""
    return Actor(people.system("conductor"), "timer")


@dataclass(frozen=True)
class Situation:
    """What the rows say about one incident; each part is read at most once."""

    incident: Incident

    @cached_property
    def cause(self) -> Cause | None:
        return Cause.objects.filter(incident=self.incident).select_related("asset__domain").first()

    @cached_property
    def plan(self) -> Plan | None:
        return plan_for(self.incident)

    @cached_property
    def drafted(self) -> bool:
        return Draft.objects.filter(incident=self.incident).exists()

    @cached_property
    def level(self) -> int:
        """What counts for the plan, else what the domain of the cause, or of the incident, allows in general."""
        if self.plan is not None:
            return plan_level(self.plan)
        domain = (self.cause and self.cause.asset and self.cause.asset.domain) or self.incident.domain
        return effective_level(domain, [])

    @property
    def reviewed(self) -> bool:
        """The first bad build was processed and measured, or left nothing that could be."""
        return counted(self.incident.first_bad_build)

    @property
    def repaired_by_others(self) -> bool:
        """The table is right again and no plan did it; after a plan that failed only a later build counts."""
        if self.plan is None or self.plan_is(*BEFORE_ACTING):
            return right_again(self.incident) is not None
        if not self.plan_is("failed") or self.plan.ended_at is None:
            return False
        since = right_again(self.incident)
        return since is not None and since > self.plan.ended_at

    @property
    def settled(self) -> bool:
        """No reader is left with damage, and every reader that can be compared shows the source value."""
        open_damage = Damage.objects.filter(incident=self.incident, state__in=("pending", "done"))
        if open_damage.exists():
            return False
        readers = confirm.confirmable(self.incident)
        equal = set(self.incident.confirmations.filter(equal=True).values_list("consumer_id", flat=True))
        return all(reader.asset_id in equal for reader in readers)

    @property
    def may_ask(self) -> bool:
        """A drafted plan whose rehearsal did not contradict it; one that was contradicted waits for a person."""
        rehearsal = (self.plan.rehearsal or {}) if self.plan else {}
        return self.plan_is("draft", "would_do") and rehearsal.get("state") not in (None, "contradicted")

    def plan_is(self, *states: str) -> bool:
        return self.plan is not None and self.plan.state in states


Do = Callable[[Situation, Actor], object]


@dataclass(frozen=True)
class Stage:
    """One line of the table: when it is next, what it does, and on which queue."""

    name: str
    queue: str
    next: Callable[[Situation], bool]
    do: Do


def _id(situation: Situation) -> UUID:
    return situation.incident.pk


def _plan(situation: Situation) -> UUID:
    assert situation.plan is not None  # noqa: S101 - every stage that calls this tests the plan's state
    return situation.plan.pk


STAGES: tuple[Stage, ...] = (
    Stage("reach", "wake", lambda s: s.incident.reached_at is None, lambda s, a: progress.see_reach(_id(s), actor=a)),
    Stage("tell", "wake", lambda s: s.incident.told_at is None, lambda s, a: progress.tell(_id(s), actor=a)),
    Stage(
        "read meanwhile",
        "wake",
        lambda s: damage.overdue(_id(s)),
        lambda s, a: damage.settle(_id(s), actor=a),
    ),
    Stage(
        "diagnose",
        "work",
        lambda s: s.incident.diagnosed_at is None and s.reviewed,
        lambda s, a: diagnose(_id(s), actor=a),
    ),
    Stage(
        "repaired outside",
        "work",
        lambda s: s.incident.diagnosed_at is not None and s.repaired_by_others,
        lambda s, a: closing.repaired_outside(_id(s), actor=a),
    ),
    Stage(
        "draft",
        "work",
        lambda s: s.cause is not None and not s.drafted and s.level >= OBSERVE,
        lambda s, a: draft.draft(_id(s), actor=a),
    ),
    Stage(
        "rehearse",
        "long",
        lambda s: s.plan_is("draft") and s.plan is not None and s.plan.rehearsal is None,
        lambda s, a: rehearse.rehearse(_plan(s), actor=a),
    ),
    Stage(
        "ask",
        "wake",
        lambda s: s.may_ask and s.level >= PROPOSE,
        lambda s, a: ask.ask(_plan(s), actor=a),
    ),
    Stage(
        "would do",
        "wake",
        lambda s: s.may_ask and s.plan_is("draft"),
        lambda s, a: would_do.keep(_plan(s), actor=a),
    ),
    Stage(
        "close",
        "wake",
        lambda s: s.plan_is("verified") and s.settled,
        lambda s, a: incident_receipt.close_with_receipt(_id(s), actor=a),
    ),
    Stage("confirm", "work", lambda s: s.plan_is("verified"), lambda s, a: confirm.confirm(_id(s), actor=a)),
)


@dataclass(frozen=True)
class PlanStage:
    """One line of the second table: what a plan in this state needs, whether or not its incident still waits."""

    state: str
    queue: str
    do: Callable[[UUID, Actor], object]


PLAN_STAGES: tuple[PlanStage, ...] = (
    PlanStage("draft", "long", lambda pk, actor: undo.prepare(pk, actor=actor)),  # only a drafted undo is ever due
    PlanStage("acting", "long", lambda pk, actor: acting.advance(pk, actor=actor)),
    PlanStage("verifying", "work", lambda pk, actor: verify.verify(pk, actor=actor)),
)


def next_stage(incident: Incident) -> Stage | None:
    """The first stage of the table that is next for an open incident, or None while it waits for people."""
    if incident.state == "closed":
        return None
    situation = Situation(incident)
    return next((stage for stage in STAGES if stage.next(situation)), None)


def step(incident: Incident) -> bool:
    """Do the one thing that is next; True when something changed, so that the next look should follow at once."""
    stage = next_stage(incident)
    return bool(stage.do(Situation(incident), conductor())) if stage else False


def plan_stage(plan: Plan) -> PlanStage | None:
    """The line of the plan table for the state a plan is in."""
    return next((stage for stage in PLAN_STAGES if stage.state == plan.state), None)


def plan_step(plan: Plan) -> bool:
    """Do the one thing that an approved plan needs next."""
    stage = plan_stage(plan)
    return bool(stage.do(plan.pk, conductor())) if stage else False
