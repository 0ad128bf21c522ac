"""One incident per cause: a breach opens an incident or joins the one that it belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import F, Q

from catalog.graph.adjacency import adjacency
from catalog.models import Asset, Build
from catalog.selectors import version_for
from foundation import audit
from foundation.audit import Actor
from foundation.clock import now
from foundation.locks import lock
from incidents import actions
from incidents.models import Baseline, Finding, Incident, IncidentHead, Result
from incidents.numbers import spoken


@dataclass(frozen=True)
class Place:
    """The incident that something found wrong belongs to, and whether it was opened for it."""

    incident: Incident
    opened: bool


def place(asset: Asset, build: Build | None) -> Place:
    """Find or open the incident of a breach; call it inside the transaction that wrote the breach.

    It joins an open incident of the same asset, or one that found a table wrong in the same build which shares an
    ancestor with this one. The head row stays locked until that transaction ends, so two breaches that come at the
    same moment never open two incidents.
    """
    IncidentHead.objects.get_or_create(pk=1)
    head = lock(IncidentHead.objects.all(), pk=1)
    incident = _joinable(asset, build)
    if incident is not None:
        return Place(_raised(incident, asset), opened=False)
    head.last_number += 1
    head.save(update_fields=["last_number"])
    moment = now()
    incident = Incident.objects.create(
        number=head.last_number, asset=asset, domain=asset.domain, first_bad_build=build, opened_at=moment,
        due_at=moment,
    )  # fmt: skip
    return Place(incident, opened=True)


def attach(
    where: Place,
    asset: Asset,
    build: Build | None,
    *,
    actor: Actor,
    baseline: Baseline | None = None,
    result: Result | None = None,
) -> Finding:
    """Write the finding (a breach or a failed check) and its audit row, in the same transaction as `place`."""
    finding = Finding.objects.create(
        incident=where.incident, asset=asset, build=build, baseline=baseline, result=result, at=now()
    )
    action = actions.INCIDENT_OPENED if where.opened else actions.INCIDENT_JOINED
    facts = {"finding": sentence(finding)}
    audit.record(actor, action, where.incident, correlation_id=where.incident.pk, facts=facts)
    return finding


def sentence(finding: Finding) -> str:
    """What was seen, in one line with its numbers."""
    if finding.baseline is not None:
        band, value = finding.baseline, finding.baseline.value
        normal = f"median of {band.n} builds {spoken(band.median)}{_change(value.number, band.median)}"
        return (
            f"{value.metric.name} of {finding.asset.name} is {spoken(value.number)}, "
            f"expected {spoken(band.low)} to {spoken(band.high)} ({normal})"
        )
    assert finding.result is not None  # noqa: S101 - a check constraint holds this
    check = finding.result.check_run
    column = f" on {check.column}" if check.column else ""
    why = f": {finding.result.reason}" if finding.result.reason else ""
    return f"{check.kind}{column} of {finding.asset.name} failed{why}"


def _change(number: Decimal, median: Decimal | None) -> str:
    return f", {(number - median) / abs(median):+.1%}" if median else ""


def _joinable(asset: Asset, build: Build | None) -> Incident | None:
    live = Incident.objects.exclude(state="closed").select_related("asset").order_by("number")
    same = live.filter(Q(asset=asset) | Q(findings__asset=asset)).first()
    if same is not None or build is None:
        return same
    family = _family(asset)
    there = live.filter(Q(first_bad_build=build) | Q(findings__build=build)).distinct()
    return next((incident for incident in there if family & _family(incident.asset)), None)


def _raised(incident: Incident, asset: Asset) -> Incident:
    """Move an incident to the table above its own that was found wrong too, while its reach is not drawn yet."""
    if incident.reached_at is None and asset.pk != incident.asset_id and asset.pk in _family(incident.asset):
        drawn_not = Incident.objects.filter(pk=incident.pk, reached_at__isnull=True)
        if drawn_not.update(asset=asset, domain=asset.domain, version=F("version") + 1):
            incident.refresh_from_db()
    return incident


def _family(asset: Asset) -> set[int]:
    """The asset and everything that feeds it, by id."""
    return {asset.pk, *adjacency(version_for(asset)).walk(asset.pk, "up").ids.tolist()}
