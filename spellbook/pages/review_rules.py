"""The rule that changes of one asset have to be acknowledged, as a part of its page: who set it, why, and what was
before. It is set and lifted where people declare things of the asset."""

from __future__ import annotations

from typing import Any, Final

from catalog import actions
from catalog.models import Asset
from catalog.review_rows import rule_of
from catalog.services.access import speaks_for
from foundation.models import AuditRow
from spellbook.sight import Sight

LISTED: Final = 20


def part(row: Asset, sight: Sight) -> dict[str, Any]:
    """The rule that stands, whether these eyes' person may set or lift it, and what was set and lifted before."""
    acts = AuditRow.objects.filter(target_type=row._meta.label_lower, target_id=str(row.pk), refused=False)
    acts = acts.filter(action__in=[actions.REVIEW_RULE_SET, actions.REVIEW_RULE_LIFTED])
    return {
        "rule": rule_of(row.pk),
        "may_rule": speaks_for(sight.person, row),
        "acts": acts.select_related("principal__name_row", "detail").order_by("-pk")[:LISTED],
    }
