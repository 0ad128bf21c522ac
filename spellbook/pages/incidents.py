"""Incidents: the list, and one incident from its first finding to its receipt."""

from __future__ import annotations

from typing import Any

from django.db.models import Max, Q
from django.http import HttpResponse, JsonResponse

from approvals import selectors as approvals
from approvals.models import Plan, Request
from approvals.services import closing
from catalog.selectors import ancestors
from foundation import audit
from foundation.models import AuditRow
from incidents.models import Finding, Incident, Result
from incidents.selectors import reach_with_names, series
from incidents.services import progress
from incidents.services.opening import sentence
from spellbook.pages import sparkline
from spellbook.pages.blast_radius import listed
from spellbook.pages.frame import AuthenticatedRequest, actor_of, done, page, show
from spellbook.sight import Sight

BY_PEOPLE = {
    "false_alarm": "False alarm: the value is right",
    "accepted": "Accepted: it is wrong and stays so",
    "repaired_outside": "Repaired outside of Spellbook",
    "duplicate": "Duplicate of another incident",
}
MOST = 100


@page("GET")
def incidents(request: AuthenticatedRequest) -> HttpResponse:
    """The newest incidents, open ones first."""
    rows = list(Sight(request.user).incidents().order_by("-number")[:MOST])
    return show(request, "pages/incidents.html", {"open": _open(rows, True), "closed": _open(rows, False)})


@page("GET")
def incident(request: AuthenticatedRequest, number: int) -> HttpResponse:
    """Everything that is known of one incident."""
    sight = Sight(request.user)
    row = sight.incident(number)
    reach = reach_with_names(row)
    context = {
        "incident": row,
        "findings": [_finding(one) for one in _findings(row)],
        "cause": getattr(row, "cause", None),
        "evidence": row.evidence.all(),
        "holds": row.holds.select_related("consumer__domain", "operator__principal__name_row").order_by("needed_by"),
        "damage": row.damage.select_related("consumer__domain").order_by("expected_at"),
        "confirmations": row.confirmations.select_related("consumer__domain"),
        "receipts": approvals.receipts_of(row),
        "reach": listed(reach, sight) if reach else None,
        "resolutions": BY_PEOPLE if closing.may_close(row, request.user) else {},
        **_checks(row),
        **_told(row),
        **_plans(row),
        **_timeline(row),
    }
    return show(request, "pages/incident.html", context)


@page("GET")
def live(request: AuthenticatedRequest, number: int) -> HttpResponse:
    """Whether rows of the timeline have come after `seen` (an id): 204 for none, else how many and the newest id."""
    row = Sight(request.user).incident(number)
    text = request.GET.get("seen", "")
    seen = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0
    newer = AuditRow.objects.filter(correlation_id=row.pk, pk__gt=seen)
    newest = newer.aggregate(last=Max("pk"))["last"]
    if newest is None:
        return HttpResponse(status=204)
    return JsonResponse({"new": newer.count(), "seen": newest, "open": row.state != "closed"})


@page("POST")
def acknowledge(request: AuthenticatedRequest, number: int) -> HttpResponse:
    """Take an open incident."""
    row = Sight(request.user).incident(number)
    progress.acknowledge(row.pk, person=request.user, actor=actor_of(request))
    return done(request, f"/incidents/{number}", f"{row} is acknowledged by you.")


@page("POST")
def close(request: AuthenticatedRequest, number: int) -> HttpResponse:
    """Close an incident with a resolution that a person may give, and a reason; its receipt is written with it."""
    row = Sight(request.user).incident(number)
    resolution, reason = request.POST.get("resolution", ""), request.POST.get("reason", "")
    closing.close_by_hand(row.pk, resolution, reason, person=request.user, actor=actor_of(request))
    return done(request, f"/incidents/{number}", f"{row} is closed.")


def _open(rows: list[Incident], live: bool) -> list[tuple[Incident, str]]:
    return [(row, headline(row)) for row in rows if (row.state != "closed") == live]


def headline(row: Incident) -> str:
    """The first finding in one line."""
    first = _findings(row)[:1]
    return sentence(first[0]) if first else f"Something was found wrong with {row.asset.name}"


def _findings(row: Incident) -> list[Finding]:
    related = ("asset__domain", "build", "baseline__value__metric", "result__check_run__asset")
    return list(row.findings.select_related(*related).order_by("at", "pk"))


def _finding(one: Finding) -> dict[str, Any]:
    metric = one.baseline.value.metric if one.baseline else None
    return {"row": one, "sentence": sentence(one), "spark": sparkline.draw(series(metric)) if metric else None}


def _checks(row: Incident) -> dict[str, Any]:
    """What the checks of the first bad build said about the table and everything that feeds it."""
    if row.first_bad_build is None:
        return {"checked": [], "passed": [], "build_reason": "no build is known"}
    family = [row.asset_id, *(asset.pk for asset, _ in ancestors(row.asset))]
    results = Result.objects.filter(build=row.first_bad_build, check_run__asset__in=family[:500])
    rows = list(
        results.select_related("check_run__asset__domain").order_by("check_run__asset__name", "check_run__kind")
    )
    review = getattr(row.first_bad_build, "review", None)
    return {
        "checked": [one for one in rows if one.status != "passed"],
        "passed": [one for one in rows if one.status == "passed"],
        "build_reason": review.reason if review else "" if rows else "the build was not reviewed yet",
    }


def _told(row: Incident) -> dict[str, Any]:
    told = AuditRow.objects.filter(correlation_id=row.pk, action="incident.told").select_related("detail").first()
    return {"told": audit.sentence(told) if told else ""}


def _plans(row: Incident) -> dict[str, Any]:
    plans = list(Plan.objects.filter(Q(incident=row) | Q(undoes__incident=row)).order_by("-created_at"))
    asked = Request.objects.filter(plan__in=plans).order_by("created_at")
    newest = {request.plan_id: request for request in asked}
    draft = getattr(row, "draft", None)
    return {
        "plans": [(plan, newest.get(plan.pk)) for plan in plans],
        "no_plan": draft.reason if draft is not None and draft.plan_id is None else "",
    }


def _timeline(row: Incident) -> dict[str, Any]:
    rows = list(audit.timeline(row.pk).select_related("principal__name_row", "detail"))
    labels = audit.actions()
    lines = [(one, labels[one.action].label if one.action in labels else one.action) for one in rows]
    return {"timeline": lines, "seen": rows[-1].pk if rows else 0}
