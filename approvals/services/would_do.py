"""Below L2 a plan is kept as what Spellbook would do; nobody is asked and nothing runs (D13)."""

from __future__ import annotations

from uuid import UUID

from approvals import actions
from approvals.models import Plan
from approvals.scope import timeline_of
from foundation import audit
from foundation.audit import Actor
from foundation.locks import lock, transaction


def keep(plan_id: UUID, *, actor: Actor) -> bool:
    """Move a drafted plan aside as would-do; True when it was a draft until now."""
    with transaction():
        row = lock(Plan.objects.select_related("undoes"), pk=plan_id)
        moved = Plan.objects.filter(pk=row.pk, state="draft", version=row.version).update(
            state="would_do", version=row.version + 1
        )
        if moved:
            audit.record(actor, actions.PLAN_WOULD_DO, row, correlation_id=timeline_of(row))
    return bool(moved)
