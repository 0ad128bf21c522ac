"""One plan in any state, its patch, and what its people do: the owner says merged, somebody asks for the undo."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse

from approvals import selectors as approvals
from approvals.models import Plan, Receipt, Request, Step
from approvals.models.plans import LIVE_PLANS
from approvals.services import merges
from approvals.services import undo as undoing
from foundation.errors import NotFound
from spellbook.pages import plan_view
from spellbook.pages.frame import AuthenticatedRequest, actor_of, done, page, show
from spellbook.sight import Sight


@page("GET")
def plan(request: AuthenticatedRequest, pk: UUID) -> HttpResponse:
    """What the plan would do, does or did."""
    row = Sight(request.user).plan(pk)
    receipts = Receipt.objects.filter(type="plan", subject=f"plan/{row.pk}") | Receipt.objects.filter(
        type="step", subject__startswith=f"step/{row.pk}/"
    )
    context = {
        **plan_view.describe(row, request.user),
        "requests": Request.objects.filter(plan=row).select_related("domain").order_by("-created_at"),
        "open_request": approvals.open_request(row),
        "receipts": receipts.select_related("leaf").order_by("created_at", "subject"),
        "undone_by": row.undone_by.order_by("created_at"),
        "may_undo": _may_undo(row),
    }
    return show(request, "pages/plan.html", context)


@page("GET")
def patch(request: AuthenticatedRequest, pk: UUID) -> HttpResponse:
    """The change of the plan as `git apply` takes it, byte for byte."""
    row = Sight(request.user).plan(pk)
    step = row.steps.filter(kind="change").first()
    if step is None:
        raise NotFound("This plan changes no code.")
    answer = HttpResponse(str(step.params["patch"]), content_type="text/x-diff; charset=utf-8")
    answer["Content-Disposition"] = f'inline; filename="plan-{row.pk}.patch"'
    return answer


@page("POST")
def merged(request: AuthenticatedRequest, pk: UUID, position: int) -> HttpResponse:
    """The owner says that the change is merged: the branch is read at once instead of at the next look."""
    row = Sight(request.user).plan(pk)
    step = Step.objects.select_related("plan").filter(plan=row, position=position, kind="change").first()
    if step is None:
        raise NotFound("This plan has no such change.")
    merges.merged(step.pk, person=request.user, actor=actor_of(request))
    return done(request, f"/plans/{pk}", "Merged as approved.")


@page("POST")
def undo(request: AuthenticatedRequest, pk: UUID) -> HttpResponse:
    """Draft the plan that takes this one back; its author is whoever asks, so somebody else approves it."""
    row = Sight(request.user).plan(pk)
    drafted = undoing.draft_undo(row.pk, actor=actor_of(request))
    return done(
        request, f"/plans/{drafted.pk}", "The undo is drafted as a plan of its own; nothing was taken back yet."
    )


def _may_undo(row: Plan) -> bool:
    """Whether the form is worth showing; the service decides."""
    merged_once = row.steps.filter(kind="change", state="done").exists()
    return row.state not in LIVE_PLANS and merged_once and not row.undone_by.filter(state__in=LIVE_PLANS).exists()
