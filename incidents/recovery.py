"""Whether a table that was found wrong is right again, and since when."""

from __future__ import annotations

from datetime import datetime

from catalog.models import Build
from incidents import history
from incidents.models import Check, Incident, Metric, Result


def right_again(incident: Incident) -> datetime | None:
    """Since when everything that the incident found wrong is known to be right; None while anything is not.

    Every metric that was outside its baseline must be held in its newest value and in the newest that Spellbook itself
    measured, if it ever did, and every check that failed must have passed in its newest result. A value that was not
    evaluated is not right again, nor is one of a build whose tables Spellbook has not counted yet. A build that told
    its end was right since then, any other since it was recorded.
    """
    moments = [*map(_metric_right, _metrics(incident)), *map(_check_right, _checks(incident))]
    known = [moment for moment in moments if moment is not None]
    return max(known) if known and len(known) == len(moments) else None


def _metrics(incident: Incident) -> list[Metric]:
    return list(Metric.objects.filter(values__baseline__finding__incident=incident).distinct())


def _checks(incident: Incident) -> list[Check]:
    return list(Check.objects.filter(results__finding__incident=incident).distinct())


def _metric_right(metric: Metric) -> datetime | None:
    rows = history.standing().filter(metric=metric).select_related("build", "baseline")
    newest = rows.first()
    if newest is None:
        return None
    # A build may be recorded by its orchestrator and measured by us: both have to be held.
    alike = list(rows.filter(build=newest.build)) if newest.build else [newest]
    # Where we count the table ourselves, what anybody says of a build that we have not counted closes nothing.
    counted_last = rows.filter(obtained="measured").first()
    alike += [counted_last] if counted_last else []
    if not all(getattr(value, "baseline", None) and value.baseline.verdict == "held" for value in alike):
        return None
    return _since(newest.build, newest.recorded_at) if counted(newest.build) else None


def _check_right(check: Check) -> datetime | None:
    newest = Result.objects.filter(check_run=check).select_related("build").order_by("-at", "-pk").first()
    if newest is None or newest.status != "passed":
        return None
    return _since(newest.build, newest.at)


def _since(build: Build | None, otherwise: datetime) -> datetime:
    return build.ended_at if build is not None and build.ended_at is not None else otherwise


def counted(build: Build | None) -> bool:
    """Whether nothing is to come any more of what Spellbook itself measures of a build, announced or only named."""
    if build is None or (build.due_at is None and build.processed_at is None):
        return True
    review = getattr(build, "review", None)
    return review is not None and review.measured_at is not None
