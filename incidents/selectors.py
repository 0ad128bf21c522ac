"""Reading this floor: incidents, what was good last, the series behind a band."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from catalog.models import Asset, Build
from foundation.models import Person
from foundation.people import display_name
from incidents import history
from incidents.models import Incident, Metric, Result, Value


def last_good_build(asset: Asset, before: Build) -> Build | None:
    """The newest build of an asset before another one that left a manifest and is known to have been good.

    Good means that it succeeded, that something about the asset was checked or held, and that nothing was found wrong:
    no failed check of the asset, no finding of an open or confirmed incident. A build that nobody looked at is not
    good, only unknown.
    """
    builds = Build.objects.filter(
        outputs__asset=asset, status="succeeded", artifacts__kind="manifest", announced_at__lt=before.announced_at
    ).exclude(pk=before.pk)
    results = Result.objects.filter(check_run__asset=asset, build=OuterRef("pk"))
    values = Value.objects.filter(metric__asset=asset, build=OuterRef("pk"), withdrawn_at__isnull=True)
    seen = Exists(results.filter(status="passed")) | Exists(values.filter(baseline__verdict="held"))
    wrong = Exists(
        results.filter(status__in=("failed", "error")).exclude(finding__incident__resolution__in=history.DISMISSED)
    )
    found = Exists(history.bad_findings().filter(build=OuterRef("pk")))
    return builds.filter(Q(seen) & ~Q(wrong) & ~Q(found)).distinct().order_by("-announced_at").first()


def open_incidents() -> QuerySet[Incident]:
    """Incidents that are not closed, newest first."""
    return Incident.objects.exclude(state="closed").select_related("asset", "domain")


def series(metric: Metric, *, limit: int = 30) -> list[Value]:
    """The newest values of a metric with their baselines, oldest first."""
    rows = history.standing().filter(metric=metric).select_related("baseline", "build")
    return list(rows[:limit])[::-1]


def newest_value(asset: Asset, metric: str, build: Build | None = None) -> Value | None:
    """The newest value of a metric, of one build if named; there a measured one comes before a recorded one."""
    rows = history.standing().filter(metric__asset=asset, metric__name=metric)
    if build is None:
        return rows.first()
    return rows.filter(build=build).order_by("obtained", "-at", "-pk").first()


def reach_with_names(incident: Incident) -> dict[str, Any] | None:
    """The frozen reach with the names that its people have today (the row holds their numbers alone); None before."""
    if incident.reach is None:
        return None
    ids = {person["person_id"] for consumer in incident.reach["consumers"] for person in _people(consumer)}
    people = Person.objects.filter(pk__in=ids).select_related("principal__name_row")
    names = {person.pk: display_name(person.principal) for person in people}
    return {**incident.reach, "consumers": [_named(one, names) for one in incident.reach["consumers"]]}


def _people(consumer: Mapping[str, Any]) -> list[dict[str, int]]:
    return [value for value in consumer.values() if isinstance(value, dict) and "person_id" in value]


def _named(consumer: Mapping[str, Any], names: Mapping[int, str]) -> dict[str, Any]:
    return {
        key: {**value, "name": names[value["person_id"]]} if isinstance(value, dict) and "person_id" in value else value
        for key, value in consumer.items()
    }
