"""How anything tells the conductor to look at an incident now."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q, QuerySet

from catalog.models import Asset, Consumer
from foundation.clock import now
from incidents.models import Incident


def wake(incident_id: UUID) -> None:
    """Make one open incident due; call it in the transaction of the change that matters to it."""
    _open().filter(pk=incident_id).update(due_at=now())


def wake_readers_of(asset: Asset) -> None:
    """Make due every open incident that a new number of this asset may move on; inside the change's transaction."""
    about = Q(asset=asset) | Q(findings__asset=asset) | Q(damage__consumer=asset)
    if _is_compared(asset):
        about |= Q(reached_at__isnull=False)
    ids = _open().filter(about).values("pk")
    # Locked in one order: two values that come at once must not wait for each other's incidents.
    rows = list(_open().filter(pk__in=ids).order_by("pk").select_for_update().values_list("pk", flat=True))
    if rows:
        _open().filter(pk__in=rows).update(due_at=now())


def _open() -> QuerySet[Incident]:
    return Incident.objects.exclude(state="closed")


def _is_compared(asset: Asset) -> bool:
    """Whether a reader's number is compared with one of this asset, or this asset is such a reader."""
    named = Consumer.objects.exclude(confirm_metric="")
    return named.filter(Q(asset=asset) | Q(confirm_source=asset)).exists()
