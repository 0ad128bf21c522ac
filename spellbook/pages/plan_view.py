"""A plan as the sign-off page and the plan page both show it: steps, assertions, rehearsal, damage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from approvals.models import Plan, Run, Step, Verification
from approvals.scope import incident_of
from foundation.models import Person
from incidents.models import Damage, Incident
from spellbook.pages import diff


@dataclass(frozen=True)
class StepView:
    """One step: the row, what its page needs beside it, and whether the reader is the one who acts."""

    row: Step
    yours: bool
    files: list[diff.File] | None
    patch: str
    runs: list[Run]

    @property
    def after(self) -> str:
        """The positions that must be done before."""
        return ", ".join(str(one) for one in self.row.params.get("after", []))

    @property
    def select(self) -> list[str]:
        """What a rerun builds."""
        return [str(one) for one in self.row.params.get("select", [])]


def describe(plan: Plan, person: Person) -> dict[str, Any]:
    """What the templates of both pages read: incident, cause, evidence, steps, assertions, rehearsal, damage."""
    incident = incident_of(plan)
    return {
        "plan": plan,
        "incident": incident,
        "cause": getattr(incident, "cause", None) if incident else None,
        "evidence": incident.evidence.all() if incident else [],
        "steps": [_step(step, person) for step in plan.steps.select_related("person__principal__name_row")],
        "assertions": _assertions(plan),
        "rehearsal": plan.rehearsal or {},
        "damage": damage(incident),
        "by_agent": plan.author.kind != "human",
    }


def damage(incident: Incident | None) -> list[Damage]:
    """The damage at each reader as it is now."""
    if incident is None:
        return []
    return list(
        Damage.objects.filter(incident=incident).select_related("consumer__domain").order_by("expected_at", "pk")
    )


def _step(step: Step, person: Person) -> StepView:
    patch = str(step.params.get("patch", ""))
    runs = list(step.runs.select_related("build").order_by("claimed_at"))
    return StepView(step, step.actor == "owner" and step.person_id == person.pk, diff.files(patch), patch, runs)


def _assertions(plan: Plan) -> list[tuple[Any, Verification | None]]:
    rows = Verification.objects.filter(assertion__plan=plan).select_related("build").order_by("measured_at")
    newest = {row.assertion_id: row for row in rows}
    return [(one, newest.get(one.pk)) for one in plan.assertions.select_related("asset__domain")]
