"""A step that could not be done is said on the timeline once, not on every look."""

from __future__ import annotations

from django.db import models

from catalog.models import Build
from foundation import audit
from foundation.locks import transaction
from foundation.models import AuditRow
from spellbook.conductor import conductor

NOT_DONE = audit.register("step.not_done", "Not done", "{reason}")


def note(row: models.Model, reason: str) -> None:
    """Write the reason on the row's timeline unless the newest row there says the same."""
    correlation = getattr(row, "incident_id", None) or (None if isinstance(row, Build) else row.pk)
    newest = AuditRow.objects.filter(target_type=row._meta.label_lower, target_id=str(row.pk)).order_by("-pk").first()
    if newest is not None and newest.action == NOT_DONE and audit.sentence(newest) == reason:
        return
    with transaction():
        audit.record(conductor(), NOT_DONE, row, correlation_id=correlation, facts={"reason": reason[:500]})
