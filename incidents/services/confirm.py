"""Comparing what a reader shows with the source value in the warehouse, after a repair."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from catalog.models import Asset, Consumer
from foundation import audit
from foundation.audit import Actor
from foundation.clock import now
from foundation.locks import lock, transaction
from incidents import actions, history
from incidents.models import Confirmation, Incident, Value
from incidents.numbers import spoken
from incidents.recovery import right_again
from incidents.services import damage


def confirm(incident_id: UUID, *, actor: Actor) -> bool | None:
    """Compare every reader that declares what to compare; True when all are equal, False when one differs.

    None: there is nothing to compare yet. Only values that were true and kept after the table was right again count; a
    reader that shows an older number is no evidence of a repair. Damage is brought up to date on the way.
    """
    incident = Incident.objects.get(pk=incident_id)
    damage.settle(incident_id, actor=actor)
    since, readers = right_again(incident), confirmable(incident)
    if since is None or not readers:
        return None
    answers = [_compare(incident, reader, since, actor) for reader in readers]
    return None if None in answers else all(answers)


def confirmable(incident: Incident) -> list[Consumer]:
    """The readers in the frozen reach that declare a number which must be shown again."""
    ids = [consumer["asset_id"] for consumer in (incident.reach or {}).get("consumers", [])]
    rows = Consumer.objects.filter(asset_id__in=ids, confirm_source__isnull=False).exclude(confirm_metric="")
    return list(rows.select_related("asset", "confirm_source"))


def _compare(incident: Incident, reader: Consumer, since: datetime, actor: Actor) -> bool | None:
    assert reader.confirm_source is not None  # noqa: S101 - confirmable() filters
    source = _newest(reader.confirm_source, reader.confirm_metric, since)
    shown = _newest(reader.asset, reader.confirm_metric, since)
    if source is None or shown is None:
        return None
    equal = source.number == shown.number
    found = {"source_value": source.number, "reader_value": shown.number, "equal": equal}
    with transaction():
        row = lock(Incident.objects.all(), pk=incident.pk)
        standing = Confirmation.objects.filter(incident=row, consumer=reader.asset, metric=reader.confirm_metric)
        if row.state == "closed" or standing.filter(**found).exists():
            return equal
        Confirmation.objects.update_or_create(
            incident=row, consumer=reader.asset, metric=reader.confirm_metric, defaults={**found, "at": now()}
        )
        facts = {
            "consumer": reader.asset.name,
            "metric": reader.confirm_metric,
            "reader": spoken(shown.number),
            "source": spoken(source.number),
            "verdict": "equal" if equal else "different",
        }
        audit.record(actor, actions.READER_CONFIRMED, row, correlation_id=row.pk, facts=facts)
    return equal


def _newest(asset: Asset, metric: str, since: datetime) -> Value | None:
    rows = history.standing().filter(metric__asset=asset, metric__name=metric)
    return rows.filter(at__gte=since, recorded_at__gte=since).first()
