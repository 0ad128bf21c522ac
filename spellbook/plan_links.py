"""Whether a pull request carries the change of a plan: the approved one whole, with more, or another one.

Compared is the file before with what both make of it, where the commit that the plan was drafted on can be read here;
else the edits line by line. Nothing here writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from approvals.models import Outcome, Plan, Step
from approvals.models.plans import LIVE_PLANS
from catalog.code_hosts.edits import edits_by_file
from catalog.code_hosts.github.client import GitHub
from catalog.models import PullRequest, Review
from catalog.review import types
from catalog.review.estate.names import joined
from catalog.review.moments import written
from catalog.services.reviewing.pull_requests import clones_of
from foundation.errors import BadInput
from foundation.models import Connection
from foundation.people import display_name
from spellbook.plan_edits import Compared, compare
from spellbook.sight import Sight

EQUAL: Final = "equal"
CONTAINS: Final = "contains"
DIFFERS: Final = "differs"
UNKNOWN: Final = "unknown"
WAITING: Final = "waiting"
APPROVED: Final = "approved"
OVER: Final = {
    "rejected": "which was rejected",
    "expired": "whose request expired",
    "superseded": "which another one took the place of",
    "failed": "which failed",
    "verified": "which is carried out already",
}
MOST: Final = 100
"""Changes of plans that are looked at, the newest first."""


@dataclass(frozen=True, slots=True)
class PlanLink:
    """A plan whose change touches the files of a pull request. `state` is waiting or approved, or why the plan is over;
    `verdict` is equal, contains, differs or unknown; the sentence names no table and no title (D19)."""

    plan_id: UUID
    state: str
    verdict: str
    sentence: str


def changes_of(connection: Connection) -> list[Step]:
    """The changes of plans for the repository of a connection to GitHub, the newest plan first."""
    steps = Step.objects.filter(kind="change").select_related("plan__incident", "plan__undoes__incident")
    mine = steps.filter(params__repository__in=[connection.name, *clones_of(connection)])
    return list(mine.order_by("-plan__created_at", "position")[:MOST])


def links(connection: Connection, patch: str, changes: Sequence[Step] | None = None) -> tuple[PlanLink, ...]:
    """The plans whose change touches a file of `patch` (the diff of a pull request), as `changes_of` has them.

    One that is over counts only where its whole change is there. BadInput when the text is no patch.
    """
    steps = changes_of(connection) if changes is None else changes
    found = edits_by_file(patch)
    made = (_link(step, compare(step, found, _path(step))) for step in steps if set(_files(step)) & found.keys())
    return tuple(link for link in made if link is not None)


def links_of(row: PullRequest, github: GitHub) -> tuple[PlanLink, ...]:
    """The links of a pull request. GitHub is asked for its diff only where there is a plan; where it gives none because
    there is too much of it, that is said of each plan whose files are changed."""
    steps = changes_of(row.connection)
    if not steps:
        return ()
    try:
        return links(row.connection, github.diff(row.number), steps)
    except BadInput as error:
        changed = {one.path for one in github.changed_files(row.number)}
        live = [one for one in steps if one.plan.state in LIVE_PLANS and changed & set(_files(one))]
        return tuple(_unknown(step, str(error)) for step in live)


def with_links(review: types.Review, found: Iterable[PlanLink]) -> types.Review:
    """The review with a sentence for each plan, behind its first reason."""
    said = tuple(one.sentence for one in found)
    return replace(review, reasons=(*review.reasons[:1], *said, *review.reasons[1:])) if said else review


def as_documents(found: Iterable[PlanLink]) -> list[dict[str, str]]:
    """The links as a kept review has them, under `plans` of its document."""
    return [{"plan": str(one.plan_id), "state": one.state, "verdict": one.verdict, "sentence": one.sentence}
            for one in found]  # fmt: skip


def shown(review: Review | None, sight: Sight) -> list[dict[str, Any]]:
    """The links of a kept review for a page: `plan` is None where these eyes may not read it."""
    kept = review.document.get("plans", []) if review is not None else []
    plans = Plan.objects.select_related("incident", "undoes").in_bulk([one["plan"] for one in kept])
    rows = {str(pk): plan for pk, plan in plans.items() if sight.reads_plan(plan)}
    return [{**one, "plan": rows.get(one["plan"])} for one in kept]


def _link(step: Step, found: Compared) -> PlanLink | None:
    plan, whole = step.plan, not found.lacking
    if plan.state not in LIVE_PLANS and not whole:
        return None
    outcome = _outcome(step)
    which = f"the change of {_called(plan)}, {_standing(step, outcome)}"
    sure = "" if found.base_known else " The commit that the plan was drafted on cannot be read here."
    if whole and not found.more:
        return _as_link(step, outcome, EQUAL, f"This is exactly {which}.{sure}")
    if whole:
        return _as_link(step, outcome, CONTAINS, f"This holds {which}, and changes more: {joined(found.more)}.{sure}")
    if not found.shared:
        return _as_link(step, outcome, DIFFERS, f"This is not {which}: it changes the same files in another way.{sure}")
    return _as_link(step, outcome, DIFFERS, f"This is not {which}: {joined(found.lacking)}.{sure}")


def _unknown(step: Step, why: str) -> PlanLink:
    outcome = _outcome(step)
    which = f"the change of {_called(step.plan)}, {_standing(step, outcome)}"
    return _as_link(step, outcome, UNKNOWN, f"Whether this is {which}, is not known: {why.rstrip('.')}.")


def _as_link(step: Step, outcome: Outcome | None, verdict: str, sentence: str) -> PlanLink:
    state = step.plan.state
    if state in LIVE_PLANS:
        state = APPROVED if outcome is not None else WAITING
    return PlanLink(step.plan_id, state, verdict, sentence)


def _called(plan: Plan) -> str:
    """The plan as whoever reads a comment may know it: a title can hold names of restricted tables."""
    if plan.incident is not None:
        return f"the plan of incident {plan.incident.number}"
    undone = plan.undoes.incident if plan.undoes is not None else None
    return f"the plan that undoes that of incident {undone.number}" if undone is not None else f"the plan {plan.pk}"


def _standing(step: Step, outcome: Outcome | None) -> str:
    state = step.plan.state
    if state in OVER:
        return OVER[state]
    if outcome is None:
        return "which nobody has approved yet" if state != "acting" else "whose change was not approved"
    votes = outcome.request.votes.filter(decision="approve").select_related("person__principal__name_row")
    names = " and ".join(display_name(one.person.principal) for one in votes.order_by("at"))
    return f"which {names} approved at {written(outcome.at)}"


def _outcome(step: Step) -> Outcome | None:
    """How the step was approved; None where it was not."""
    found = Outcome.objects.filter(request__plan=step.plan_id, decision="approve").select_related("request").first()
    return found if found is not None and step.position in found.steps else None


def _files(step: Step) -> list[str]:
    return [str(one) for one in step.params.get("files", ())]


def _path(step: Step) -> str:
    """Where the clone of the plan's code lies on this machine; "" where there is none."""
    row = Connection.objects.filter(name=str(step.params.get("repository", "")), kind="git").first()
    return str(row.params.get("path", "")) if row is not None else ""
