"""A step that could not be done is said on the timeline once, not on every look."""

from __future__ import annotations

import logging
from uuid import UUID

from django.db import DatabaseError, models

from approvals.models import Plan
from approvals.scope import timeline_of
from foundation import audit
from foundation.errors import SpellbookError
from foundation.locks import transaction
from foundation.models import AuditRow
from incidents.models import Incident
from spellbook.conductor import conductor

log = logging.getLogger(__name__)

NOT_DONE = audit.register("step.not_done", "Not done", "{reason}")
LONGEST = 500
LOOKED_AT = 20


def note(row: models.Model, reason: str) -> None:
    """Write the reason on the row's timeline, unless it stands there since something else happened to the row.

    When the database itself is what fails, the log has to do.
    """
    text = " ".join(reason.split())[:LONGEST]
    try:
        if text not in _said_since(row):
            with transaction():
                audit.record(conductor(), NOT_DONE, row, correlation_id=_incident(row), facts={"reason": text})
    except (SpellbookError, DatabaseError):
        log.warning("%s %s: %s", row._meta.label, row.pk, text)


def _said_since(row: models.Model) -> set[str]:
    """The reasons that the row's newest audit rows give, back to the newest one that tells something else."""
    about = AuditRow.objects.filter(target_type=row._meta.label_lower, target_id=str(row.pk)).order_by("-pk")
    said: set[str] = set()
    for one in about[:LOOKED_AT]:
        if one.action != NOT_DONE:
            break
        said.add(audit.sentence(one))
    return said


def _incident(row: models.Model) -> UUID | None:
    """The incident whose timeline the row belongs to; a build belongs to none."""
    if isinstance(row, Plan):
        return timeline_of(row)
    return row.pk if isinstance(row, Incident) else None
