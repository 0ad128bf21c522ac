"""Recording a value: kept, judged against its baseline and, on a breach, an incident; all in one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

from catalog.models import Asset, Build
from catalog.services.access import permit
from catalog.services.builds import ensure
from foundation import audit
from foundation.audit import Actor
from foundation.clock import now
from foundation.errors import BadInput, Conflict
from foundation.locks import lock, transaction
from incidents import actions
from incidents.models import Baseline, Incident, Metric, Value
from incidents.numbers import exact, plain, spoken
from incidents.services.judging import judge_value, said
from incidents.services.opening import attach, place
from incidents.services.wake import wake_readers_of

__all__ = ["Recorded", "plain", "record", "withdraw"]

LATE = timedelta(minutes=10)
AHEAD = timedelta(minutes=5)  # clocks of other machines run a little fast


@dataclass(frozen=True)
class Recorded:
    """The kept value, how it was judged, and the incident that a breach opened or joined."""

    value: Value
    baseline: Baseline | None
    incident: Incident | None
    created: bool


def record(
    asset: Asset,
    metric: str,
    number: int | str | float | Decimal,
    *,
    actor: Actor,
    at: datetime | None = None,
    build_key: str | None = None,
    obtained: str = "recorded",
    query: str = "",
    judged: bool = True,
) -> Recorded:
    """Keep one value of a metric and judge it; the same value again for the same build (or time) changes nothing.

    `number` must be finite (kept with 6 places, 15 digits); `at`, with a zone, is when it was true: default now, marked
    backdated when more than 10 minutes ago. Raises BadInput on anything unusable, NotAllowed when an agent may not
    write in the asset's namespace, Conflict when another number stands for this metric and build.
    """
    kept, name = exact(number), _name(metric)
    permit(actor, asset.namespace)
    with transaction():
        moment = now()
        when = moment if at is None else _moment(at, moment)
        Metric.objects.get_or_create(asset=asset, name=name)
        row = lock(Metric.objects.select_related("asset"), asset=asset, name=name)
        build = ensure(build_key, actor=actor) if build_key else None
        known = _known(row, build, obtained, None if at is None else when)
        if known is not None:
            return _again(known, kept)
        value = Value.objects.create(
            metric=row, build=build, number=kept, at=when, recorded_at=moment, principal=actor.principal,
            obtained=obtained, backdated=when < moment - LATE, query=query,
        )  # fmt: skip
        return _judged(value, judge_value(value) if judged else None, actor)


def withdraw(value: Value, reason: str, *, actor: Actor) -> None:
    """Take a value out of every later baseline, with the reason; the row stays. Conflict when that was done before."""
    if not reason.strip():
        raise BadInput("A value is withdrawn with a reason; none was given.")
    with transaction():
        row = lock(Value.objects.select_related("metric__asset"), pk=value.pk)
        changes = {"withdrawn_at": now(), "withdrawn_reason": reason[:500]}
        if not Value.objects.filter(pk=row.pk, withdrawn_at__isnull=True).update(**changes):
            raise Conflict("This value was withdrawn before.")
        facts = {"metric": row.metric.name, "asset": row.metric.asset.name, "reason": reason[:500]}
        audit.record(actor, actions.VALUE_WITHDRAWN, row, correlation_id=_concerned(row.metric), facts=facts)
        wake_readers_of(row.metric.asset)


def _judged(value: Value, baseline: Baseline | None, actor: Actor) -> Recorded:
    """Put a breach into its incident; the value's own audit row comes first and belongs to that incident too."""
    metric, breach = value.metric, baseline is not None and baseline.verdict == "breach"
    where = place(metric.asset, value.build) if breach else None
    facts = {
        "metric": metric.name,
        "asset": metric.asset.name,
        "number": spoken(value.number),
        "obtained": value.obtained + (", backdated" if value.backdated else ""),
        "verdict": said(baseline),
    }
    about = where.incident.pk if where else _concerned(metric)
    audit.record(actor, actions.VALUE_RECORDED, value, correlation_id=about, facts=facts)
    if where is not None:
        attach(where, metric.asset, value.build, baseline=baseline, actor=actor)
    wake_readers_of(metric.asset)
    return Recorded(value, baseline, where.incident if where else None, created=True)


def _concerned(metric: Metric) -> UUID | None:
    """The open incident in which this metric was found wrong: its later values are part of that story."""
    live = Incident.objects.exclude(state="closed").filter(findings__baseline__value__metric=metric)
    return live.order_by("-number").values_list("pk", flat=True).first()


def _known(metric: Metric, build: Build | None, obtained: str, at: datetime | None) -> Value | None:
    rows = Value.objects.filter(metric=metric, obtained=obtained)
    if build is not None:
        return rows.filter(build=build).first()
    return rows.filter(build__isnull=True, at=at).first() if at is not None else None


def _again(known: Value, number: Decimal) -> Recorded:
    if known.number != number:
        which = f"build {known.build.key}" if known.build else f"{known.at:%Y-%m-%d %H:%M:%S} UTC"
        stands = f"{known.metric.name} of {known.metric.asset.name} is {plain(known.number)} for {which} already"
        raise Conflict(f"{stands}; {plain(number)} was not recorded.")
    baseline: Baseline | None = getattr(known, "baseline", None)
    finding = getattr(baseline, "finding", None)
    return Recorded(known, baseline, finding.incident if finding else None, created=False)


def _moment(at: datetime, moment: datetime) -> datetime:
    if at.tzinfo is None:
        raise BadInput("The time of a value needs a zone, for example 2026-09-29T01:12:00-04:00.")
    try:
        when = at.astimezone(UTC)
    except OverflowError:
        raise BadInput("The time of the value cannot be kept.") from None
    if when > moment + AHEAD:
        raise BadInput(f"The time of the value, {at.isoformat()}, lies in the future.")
    return when


def _name(metric: str) -> str:
    name = metric.strip()
    if not name or len(name) > 200 or not name.isprintable():
        raise BadInput("A metric needs a name of 1 to 200 printable characters.")
    return name
