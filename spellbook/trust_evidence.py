"""What is known of tables that speaks for or against them, read for a whole list at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.db.models import F, OuterRef, Q, Subquery, Window
from django.db.models.functions import RowNumber

from catalog.graph.adjacency import adjacency
from catalog.models import Asset, AssetRole, BuildOutput, ColumnList, Definition
from incidents.models import Check, Incident, Metric, Result, Value
from incidents.services.counting import MEASURED, OURS

CHUNK = 400  # databases limit the parameters of a query
BUILDS = 6
STALE = timedelta(days=30)
"""A result of a check that is older says nothing of the table as it is."""
WENT_WELL = frozenset({"success", "succeeded", "pass"})
WENT_WRONG = frozenset({"error", "fail", "failed", "skipped", "runtime error"})


@dataclass
class Evidence:
    """All that is known of one asset. `checks` and `verdicts` hold one entry each; None where there is no answer.
    `measured` counts the checks of what Spellbook measured: each is judged as a value, in `verdicts`."""

    checks: list[str | None] = field(default_factory=list)
    measured: int = 0
    verdicts: list[str | None] = field(default_factory=list)
    builds: list[tuple[bool | None, datetime]] = field(default_factory=list)
    incidents: list[str] = field(default_factory=list)
    above: list[str] = field(default_factory=list)
    roles: set[str] = field(default_factory=set)
    columns: list[bool] = field(default_factory=list)
    described: bool = False
    defined: bool = False


def gather(ids: Sequence[int], at: datetime) -> dict[int, Evidence]:
    """The evidence of each asset, as of `at`; builds newest first, at most BUILDS of them."""
    found = {pk: Evidence() for pk in ids}
    wanted = list(found)
    for start in range(0, len(wanted), CHUNK):
        chunk = wanted[start : start + CHUNK]
        for read in (_checks, _verdicts, _builds, _people, _words, _columns, _definitions):
            read(chunk, found, at)
    _incidents(found)
    return found


Found = Mapping[int, Evidence]


def _checks(ids: Sequence[int], found: Found, at: datetime) -> None:
    """A watch (an order to measure) is no check; what it measured is judged as a value."""
    newest = Result.objects.filter(check_run=OuterRef("pk")).order_by("-at", "-pk")
    rows = Check.objects.filter(asset__in=ids).exclude(origin=OURS)
    told = rows.annotate(said=Subquery(newest.values("status")[:1]), when=Subquery(newest.values("at")[:1]))
    for pk, origin, said, when in told.values_list("asset_id", "origin", "said", "when"):
        if origin == MEASURED:
            found[pk].measured += 1
            continue
        fresh = when is not None and at - when <= STALE
        found[pk].checks.append(said if fresh and said in ("passed", "failed") else None)


def _verdicts(ids: Sequence[int], found: Found, at: datetime) -> None:
    newest = Value.objects.filter(metric=OuterRef("pk"), withdrawn_at__isnull=True).order_by("-at", "-pk")
    rows = Metric.objects.filter(asset__in=ids).annotate(
        said=Subquery(newest.values("baseline__verdict")[:1]), when=Subquery(newest.values("at")[:1])
    )
    for pk, said, when in rows.values_list("asset_id", "said", "when"):
        fresh = when is not None and at - when <= STALE
        found[pk].verdicts.append(said if fresh and said in ("held", "breach") else None)


def _builds(ids: Sequence[int], found: Found, at: datetime) -> None:
    order = Window(RowNumber(), partition_by=F("asset_id"), order_by=F("build__announced_at").desc())
    rows = BuildOutput.objects.filter(asset__in=ids, build__announced_at__lte=at).annotate(place=order)
    fields = ("asset_id", "status", "build__status", "build__ended_at", "build__announced_at")
    newest = rows.filter(place__lte=BUILDS).order_by("asset_id", "place").values_list(*fields)
    for pk, said, whole, ended, announced in newest:
        found[pk].builds.append((_went(said.casefold() or whole), ended or announced))


def _went(said: str) -> bool | None:
    return True if said in WENT_WELL else False if said in WENT_WRONG else None


def _people(ids: Sequence[int], found: Found, at: datetime) -> None:
    answers = Q(person__is_active=True) | Q(person__isnull=True)
    rows = AssetRole.objects.filter(answers, asset__in=ids, role__in=("owner", "on_call"))
    for pk, role in rows.values_list("asset_id", "role"):
        found[pk].roles.add(role)


def _words(ids: Sequence[int], found: Found, at: datetime) -> None:
    """The description, and the people of the domain, who answer where an asset names nobody."""
    fields = ("pk", "description", "domain__owner__is_active", "domain__on_call__is_active")
    for pk, text, owner, on_call in Asset.objects.filter(pk__in=ids).values_list(*fields):
        found[pk].described = bool(text.strip())
        found[pk].roles |= {role for role, active in (("owner", owner), ("on_call", on_call)) if active}


def _columns(ids: Sequence[int], found: Found, at: datetime) -> None:
    rows: Iterable[tuple[int, list[dict[str, Any]]]] = ColumnList.objects.filter(asset__in=ids).values_list(
        "asset_id", "items"
    )
    for pk, items in rows:
        found[pk].columns = [bool((item.get("description") or "").strip()) for item in items]


def _definitions(ids: Sequence[int], found: Found, at: datetime) -> None:
    rows = Definition.objects.filter(asset__in=ids, status="standing", approved_by__isnull=False)
    for pk in rows.values_list("asset_id", flat=True).distinct():
        found[pk].defined = True


def _incidents(found: Found) -> None:
    """Incidents that are open on each asset, and on anything above it."""
    rows = Incident.objects.exclude(state="closed").order_by("number").values_list("asset_id", "number")
    flagged: defaultdict[int, list[str]] = defaultdict(list)
    for pk, number in rows:
        flagged[pk].append(f"INC-{number}")
    for pk, evidence in found.items():
        evidence.incidents = flagged.get(pk, [])
    for pk, names in _above(found, flagged).items():
        found[pk].above = names


def _above(found: Found, flagged: Mapping[int, list[str]]) -> dict[int, list[str]]:
    """Walks up from the assets or down from the incidents, whichever are fewer."""
    if not flagged or not found:
        return {}
    graph = adjacency()
    above: defaultdict[int, list[str]] = defaultdict(list)
    if len(found) <= len(flagged):
        wrong = np.fromiter(flagged, dtype=np.int64)
        for pk in found:
            reached = graph.walk(pk, "up").ids
            for one in reached[np.isin(reached, wrong)].tolist():
                above[pk] += flagged[one]
        return dict(above)
    asked = np.fromiter(found, dtype=np.int64)
    for one, names in flagged.items():
        reached = graph.walk(one, "down").ids
        for pk in reached[np.isin(reached, asked)].tolist():
            above[pk] += names
    return dict(above)
