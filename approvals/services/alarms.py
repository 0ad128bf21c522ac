"""An alarm is a row of the timeline that says once what a person has to look at."""

from __future__ import annotations

from uuid import UUID

from django.db import models

from foundation import audit
from foundation.audit import Actor
from foundation.locks import transaction
from foundation.models import AuditRow


def alarm(
    actor: Actor, action: str, target: models.Model, facts: dict[str, str], *, correlation_id: UUID | None
) -> bool:
    """Record `action` on `target`; False when its newest row of this kind says the same already."""
    with transaction():
        rows = AuditRow.objects.filter(
            action=action, target_type=target._meta.label_lower, target_id=str(target.pk)
        ).select_related("detail")
        newest = rows.order_by("-id").first()
        if newest is not None and _facts(newest) == facts:
            return False
        audit.record(actor, action, target, correlation_id=correlation_id, facts=facts)
    return True


def _facts(row: AuditRow) -> object:
    detail = getattr(row, "detail", None)
    return detail.body.get("facts") if detail is not None else None
