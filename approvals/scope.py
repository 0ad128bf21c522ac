"""What a plan belongs to: its incident, the domain in which its cause is fixed, the domains that it touches."""

from __future__ import annotations

from uuid import UUID

from approvals.models import Plan, Step
from catalog.models import Domain
from incidents.models import Cause, Incident

DISPATCHED = ("change", "rerun", "grant")


def incident_of(plan: Plan) -> Incident | None:
    """The incident that a plan repairs; an undo belongs to the incident of the plan that it takes back."""
    seen = plan
    while seen.incident is None and seen.undoes is not None:
        seen = seen.undoes
    return seen.incident


def timeline_of(plan: Plan) -> UUID | None:
    """The incident on whose timeline whatever concerns a plan stands; None for a plan without one."""
    incident = incident_of(plan)
    return incident.pk if incident else None


def domain_of(plan: Plan) -> Domain | None:
    """The domain where the cause is fixed: that of the asset that the cause names, else the incident's, else None."""
    incident = incident_of(plan)
    if incident is None:
        return None
    cause: Cause | None = getattr(incident, "cause", None)
    if cause is not None and cause.established and cause.asset is not None and cause.asset.domain is not None:
        return cause.asset.domain
    return incident.domain or incident.asset.domain


def domains_touched(plan: Plan) -> list[Domain]:
    """The domain of the fix first, then those of the assets that the assertions speak of, each once."""
    found = [domain_of(plan), *(one.asset.domain for one in plan.assertions.select_related("asset__domain"))]
    return list({domain.pk: domain for domain in found if domain is not None}.values())


def is_dispatch(plan: Plan) -> bool:
    """Whether approving the plan lets Spellbook itself run something, so that the stop freezes its request."""
    return Step.objects.filter(plan=plan, actor="spellbook", kind__in=DISPATCHED).exists()


def step_classes(plan: Plan) -> list[str]:
    """The classes of the plan's steps, each once."""
    return sorted(set(plan.steps.values_list("step_class", flat=True)))
