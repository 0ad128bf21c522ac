"""Which earlier values may say what is normal for a metric, and why the others may not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from incidents.baselines import WINDOW
from incidents.models import Finding, Value

DISMISSED = ("false_alarm", "accepted")
"""Resolutions that say: what was found was right after all."""


@dataclass(frozen=True)
class History:
    """The values that count, newest first and one a build, and the ones left out as {id, why}."""

    used: list[Value]
    excluded: list[dict[str, int | str]]


def standing() -> QuerySet[Value]:
    """The values that nobody withdrew, newest first by the time that they are of."""
    return Value.objects.filter(withdrawn_at__isnull=True).order_by("-at", "-pk")


def bad_findings() -> QuerySet[Finding]:
    """Findings of incidents that are open or were confirmed; their builds say nothing of what is normal."""
    return Finding.objects.exclude(incident__resolution__in=DISMISSED)


def before(value: Value) -> History:
    """Up to 30 builds before `value`, a measured value before a recorded one of the same build.

    Left out, with the reason: values outside their own baseline, builds in which an open or confirmed incident found
    anything, and what Spellbook measured between builds (looking often must not make a number normal).
    """
    rows = list(_candidates(value)[: 3 * WINDOW])
    incidents = _incidents({row.build_id for row in rows if row.build_id})
    used: dict[object, Value] = {}
    excluded: list[dict[str, int | str]] = []
    for old in rows:
        why = _why_not(old, incidents)
        key = old.build_id or old.pk
        if why:
            excluded.append({"id": old.pk, "why": why})
        elif key in used:
            used[key] = old if old.obtained == "measured" else used[key]
        elif len(used) < WINDOW:
            used[key] = old
        else:
            break
    return History(list(used.values()), excluded)


def _candidates(value: Value) -> QuerySet[Value]:
    rows = standing().filter(metric=value.metric_id, at__lte=value.at).exclude(pk=value.pk)
    rows = rows.exclude(build=value.build_id) if value.build_id else rows
    return rows.select_related("baseline__finding__incident")


def _incidents(builds: set[UUID]) -> dict[UUID | None, str]:
    rows = bad_findings().filter(build__in=builds).select_related("incident")
    return {row.build_id: str(row.incident) for row in rows}


def _why_not(old: Value, incidents: Mapping[UUID | None, str]) -> str:
    if old.build_id in incidents:
        return f"its build is part of {incidents[old.build_id]}"
    if old.build_id is None and old.obtained == "measured":
        return "measured between builds"
    baseline = getattr(old, "baseline", None)
    if baseline is None or baseline.verdict != "breach":
        return ""
    finding = getattr(baseline, "finding", None)
    dismissed = finding is not None and finding.incident.resolution in DISMISSED
    return "" if dismissed else "outside its own baseline"
